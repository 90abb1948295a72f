// Characters that come in pieces.

#include <random>

#include "base/utf8.h"
#include "base/utf8_stream.h"
#include "tests/catch.h"

using namespace deft;

namespace {

constexpr const char* kMark = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

TEST_CASE("half a character waits for its other half, and what can be none is replaced at once") {
    Utf8Stream stream;
    std::string out;
    const auto add = [&](const char* bytes) {
        out.clear();
        stream.add(bytes, out);
        return out;
    };
    CHECK(add("a\xC3") == "a");
    CHECK(add("\xA4z") == "\xC3\xA4z");
    CHECK(add("\xF0") == "");
    CHECK(add("\x9F") == "");
    CHECK(add("\x98") == "");
    CHECK(add("\x80!") == "\xF0\x9F\x98\x80!");
    CHECK(add("\xE2") == "");
    CHECK(add("x") == std::string(kMark) + "x");
    CHECK(add("\xE0\x80") == std::string(kMark) + kMark);  // overlong
    CHECK(add("\xED\xA0") == std::string(kMark) + kMark);  // a surrogate
    CHECK(add("\xF4\x90") == std::string(kMark) + kMark);  // above U+10FFFF
    CHECK(add("\xED\x9F") == "");
    CHECK(add("\xBF") == "\xED\x9F\xBF");
    CHECK(add("\xF4\x8F\xBF") == "");
    CHECK(add("\xBF") == "\xF4\x8F\xBF\xBF");
    CHECK(add("\xC0\xFF\x80") == std::string(kMark) + kMark + kMark);
    CHECK(add("q\xE2\x82") == "q");
    out.clear();
    stream.finish(out);
    CHECK(out == std::string(kMark) + kMark);
    out.clear();
    stream.finish(out);
    CHECK(out == "");
}

TEST_CASE("text in pieces is the text in one, and always valid") {
    std::mt19937_64 random(std::random_device{}());
    for (int round = 0; round < 2000; ++round) {
        std::string text, out;
        for (int i = 0; i < 12; ++i) {
            if (random() % 3 == 0)
                append_utf8(static_cast<char32_t>(random() % 0xD800), text);
            else
                text += static_cast<char>(random() % 2 == 0 ? 0x80 + random() % 128 : random() % 256);
        }
        Utf8Stream stream;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t n = 1 + random() % 4;
            stream.add(std::string_view(text).substr(at, n), out);
            CHECK(is_valid_utf8(out));
            at += n;
        }
        stream.finish(out);
        CHECK(out == with_valid_utf8(text));
        if (is_valid_utf8(text)) CHECK(out == text);
        std::size_t marks = 0;  // a valid character stays, any other byte is a mark
        for (std::size_t at = 0; at < text.size();) {
            const Utf8Character character = decode_utf8(text, at);
            marks += character.valid ? character.bytes : 3;
            at += character.bytes;
        }
        CHECK(out.size() == marks);
    }
}
