#pragma once

#include <string>
#include <string_view>

namespace deft {

// The first key that appears twice in an object of a JSON text; parsing keeps one value. Empty: none.
std::string repeated_key(std::string_view text);

}  // namespace deft
