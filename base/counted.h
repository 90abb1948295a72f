#pragma once
// A count with its noun.

#include <concepts>
#include <string>
#include <string_view>

namespace deft {

// "1 session", "24 sessions". `many`: a plural that is more than an s behind the noun.
std::string counted(std::integral auto count, std::string_view one, std::string_view many = {}) {
    std::string text = std::to_string(count) + ' ';
    if (count == 1) return text.append(one);
    return many.empty() ? text.append(one) + 's' : text.append(many);
}

}  // namespace deft
