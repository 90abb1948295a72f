#pragma once
// Python's str.replace.

#include <cstddef>
#include <string>
#include <string_view>

namespace deft::experiments {

// Every `from`, which must not be empty, from the left; what has been put in is not looked at again.
inline std::string replaced_all(std::string_view text, std::string_view from, std::string_view to) {
    std::string result;
    for (std::size_t at = 0;;) {
        const std::size_t found = text.find(from, at);
        result += text.substr(at, found - at);
        if (found == std::string_view::npos) return result;
        result += to;
        at = found + from.size();
    }
}

}  // namespace deft::experiments
