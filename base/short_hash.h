#pragma once
// The start of a hash: enough of it to tell it from others, short enough to read.

#include <string>
#include <string_view>

namespace deft {

inline std::string short_hash(std::string_view hash) {
    return std::string(hash.substr(0, 12));
}

}  // namespace deft
