#include "base/utf8_stream.h"

#include "base/utf8.h"

namespace deft {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Whether the text, an incomplete character, can be the start of a valid one.
bool may_be_completed(std::string_view text) {
    if (text.size() > 3) return false;
    // The continuation of a lead byte is limited from below or from above, never to what has neither of these.
    for (const char fill : {'\x80', '\xBF'}) {
        const std::string completed = std::string(text) + std::string(3, fill);
        const Utf8Character character = decode_utf8(completed, 0);
        if (character.valid && character.bytes > text.size()) return true;
    }
    return false;
}

}  // namespace

void Utf8Stream::add(std::string_view bytes, std::string& out) {
    waiting_ += bytes;
    std::size_t at = 0;
    while (at < waiting_.size()) {
        const Utf8Character character = decode_utf8(waiting_, at);
        if (character.valid)
            out.append(waiting_, at, character.bytes);
        else if (may_be_completed(std::string_view(waiting_).substr(at)))
            break;
        else
            append_utf8(kReplacement, out);
        at += character.bytes;
    }
    waiting_.erase(0, at);
}

void Utf8Stream::finish(std::string& out) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) append_utf8(kReplacement, out);
    waiting_.clear();
}

std::string with_valid_utf8(std::string_view text) {
    std::string out;
    Utf8Stream stream;
    stream.add(text, out);
    stream.finish(out);
    return out;
}

}  // namespace deft
