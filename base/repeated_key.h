#pragma once

#include <string>
#include <string_view>

namespace deft {

// The first key that an object of a JSON text has twice, of which a parsed object keeps one. Empty: none.
std::string repeated_key(std::string_view text);

}  // namespace deft
