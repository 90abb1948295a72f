#pragma once
// JSON through nlohmann-json; its objects are sorted by key, which canonical text relies on.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace deft {

// Parsed here so that the library's parser is compiled once.
// Errors: the library's own parse_error, with the byte offset.
Json parse_json(std::string_view text);

// Discarded (Json::is_discarded) where the text is not valid JSON.
Json try_parse_json(std::string_view text);

// The text of a value that may hold names of files. `indent`: -1 for one line.
// Errors: usage, for a string that is not UTF-8, with that string.
std::string json_text(const Json& value, int indent = -1);

// The library's number for such a string, and its fix.
inline constexpr int kNotUtf8 = 316;
inline constexpr const char* kFixForNotUtf8 =
    "give the file or folder a name in UTF-8 (mv, or convmv for many), or reach it through a link with such a name";

// The object that a text holds. Otherwise discarded, and `problem` says why: "not valid JSON at line 2, column 5: ...",
// or "a JSON array, not an object".
Json try_parse_object(std::string_view text, std::string& problem);

// U+FFFE in UTF-8, which is not a character: tolerant_json() puts it in place of half a surrogate pair.
inline constexpr std::string_view kHalfCharacter = "\xEF\xBF\xBE";

// The JSON that Python's json module and pandas write, as JSON: NaN and Infinity outside of texts become null, and an
// escaped half of a surrogate pair becomes kHalfCharacter.
std::string tolerant_json(std::string_view text);

// One spelling for one value: keys sorted, no spaces, shortest round-trip reals, integers distinct from reals.
// Errors: config, for NaN and infinity, which JSON cannot hold; usage, for a string that is not UTF-8.
std::string canonical_json(const Json& value);

}  // namespace deft
