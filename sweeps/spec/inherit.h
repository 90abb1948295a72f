#pragma once
// The files that a sweep file extends, and its scales: both are laid over each other before anything is interpreted.

#include <filesystem>
#include <string>
#include <vector>

#include "base/config.h"
#include "sweeps/spec/inherited_recipes.h"

namespace deft::sweeps {

struct Inherited {
    ConfigNode root;
    ListChanges changes;
};

// The text of a sweep file with everything that it extends laid under it. Errors: io, config (cycles too).
Inherited with_parents(const std::filesystem::path& file, const std::string& text);

// Lays [scale.NAME] over the rest and drops [scale]. Returns whether the file has that scale.
// Errors: config, for a scale that is missing unless `may_be_missing`.
bool apply_scale(ConfigNode& root, const std::string& scale, bool may_be_missing);

}  // namespace deft::sweeps
