#include "base/utf8.h"

namespace deft {

bool is_valid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        if (!character.valid) return false;
        at += character.bytes;
    }
    return true;
}

std::int64_t count_code_points(std::string_view text) {
    std::int64_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) at += decode_utf8(text, at).bytes;
    return count;
}

}  // namespace deft
