#pragma once
// The first line of a message, which holds its reason.

#include <string>
#include <string_view>

namespace deft {

inline std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace deft
