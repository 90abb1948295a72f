#pragma once
// In which keys two configurations differ.

#include <string>
#include <vector>

namespace deft::reporting {

struct ConfigurationDifference {
    std::string key;       // "train.budget_fraction"
    std::string from, to;  // values as JSON; of a key that one lacks "none"
};

// Sorted by key. The seed, the trial that it starts from and the keys of this machine ("local"), which distinguish no
// recipes, are left out. Texts that are no JSON objects differ in nothing.
std::vector<ConfigurationDifference> configuration_differences(const std::string& from_json,
                                                               const std::string& to_json);

// "train.budget_fraction: 1.0 -> 0.5".
std::string to_text(const ConfigurationDifference& difference);

}  // namespace deft::reporting
