#pragma once
// The lists of a sweep file beside those of the files that it extends: recipes join by name, other lists replace.

#include <cstddef>
#include <string>
#include <vector>

#include "base/config.h"

namespace deft::sweeps {

// A list of tables in place of another, as [[exclude]] of a file that extends one with excludes.
struct ReplacedList {
    std::string path;  // "exclude", "scale.proxy.case"
    Place by, of;
    std::size_t count = 0;  // of the list that has no effect
};

// Lays a file over those that it extends: a [[case]] of a name that is there already edits that case, another one is
// added. Every other list replaces; one of tables is noted in `replaced`.
void lay_over_parents(ConfigNode& below, ConfigNode own, std::vector<ReplacedList>& replaced);

// The notes of a plan: the lists that have an effect at that scale.
std::vector<std::string> replaced_notes(const std::vector<ReplacedList>& replaced, const std::string& scale);

}  // namespace deft::sweeps
