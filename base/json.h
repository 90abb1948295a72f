#pragma once
// JSON through nlohmann-json; its objects are sorted by key, which canonical text relies on.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace deft {

// Parsed here so that the library's parser is compiled once.
// Errors: the library's own parse_error, with the byte where it stands.
Json parse_json(std::string_view text);

// Discarded (Json::is_discarded) where the text is no JSON.
Json try_parse_json(std::string_view text);

// One spelling for one value: keys sorted, no spaces, shortest round-trip reals, integers distinct from reals.
// Errors: config, for NaN and infinity, which JSON cannot hold.
std::string canonical_json(const Json& value);

}  // namespace deft
