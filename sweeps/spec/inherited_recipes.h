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

// A recipe that another file of the `extends` chain defines, and that a [[case]] of the same name edits.
struct EditedRecipe {
    std::string name;
    Place by, of;
};

// Effects of the files of an `extends` chain on each other's lists.
struct ListChanges {
    std::vector<ReplacedList> replaced;
    std::vector<EditedRecipe> edited;
};

// Lays a file over those that it extends: a [[case]] with an existing name edits that recipe, another one is
// added. Every other list replaces; one of tables is noted in `changes`.
void override_parents(ConfigNode& below, ConfigNode own, ListChanges& changes);

// The notes of a plan: the lists that have an effect at that scale, and the recipes that are edited.
std::vector<std::string> change_notes(const ListChanges& changes, const std::string& scale);

}  // namespace deft::sweeps
