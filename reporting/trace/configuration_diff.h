#pragma once
// In which keys two configurations differ.

#include <string>
#include <vector>

namespace deft::reporting {

// "train.budget_fraction: 1.0 -> 0.5", sorted by key; a key that one lacks stands as "none". The seed, the trial that
// it starts from and the keys of this machine ("local"), which tell no recipes apart, are left out. Texts that are no
// JSON objects differ in nothing.
std::vector<std::string> configuration_differences(const std::string& from_json, const std::string& to_json);

}  // namespace deft::reporting
