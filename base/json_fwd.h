#pragma once
// The name of Json, for headers that only pass it on: the library's own header is slow to compile.

#include <nlohmann/json_fwd.hpp>

namespace deft {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keys keep the order in which they are written

}  // namespace deft
