#pragma once
// JSON through nlohmann-json; its objects are sorted by key, which canonical text relies on.

#include <nlohmann/json.hpp>
#include <string>

#include "base/json_fwd.h"

namespace deft {

// One spelling for one value: keys sorted, no spaces, shortest round-trip reals, integers distinct from reals.
// Errors: config, for NaN and infinity, which JSON cannot hold.
std::string canonical_json(const Json& value);

}  // namespace deft
