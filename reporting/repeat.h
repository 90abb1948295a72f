#pragma once
// The commands that train a row of a comparison again, from the same commit.

#include <string>
#include <vector>

#include "reporting/variants.h"

namespace deft::reporting {

// A word as a shell would take it back.
std::string shell_word(const std::string& word);

// Lines for a shell. `points`: the sweep's file and options as `deft run` takes them, words already quoted.
// Empty where the sweep's file is unknown.
std::vector<std::string> repeat_commands(const Variant& variant, const std::string& points);

}  // namespace deft::reporting
