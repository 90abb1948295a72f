#pragma once
// Configuration trees as TOML text.

#include <string>

#include "base/config.h"

namespace deft {

// The keys of `table` under "[path]", then its tables under headers of their own; a table that holds only tables has
// none. The root has the empty path. Reading the text again gives the same tree.
std::string to_toml(const ConfigNode& table, const std::string& path);

}  // namespace deft
