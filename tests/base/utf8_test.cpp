#include "base/utf8.h"

#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace deft;

namespace {

// Bit patterns of the standard's definition.
std::string encode(char32_t code) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace

TEST_CASE("every code point but the surrogates is encoded and decoded, and no shorter prefix of it") {
    for (char32_t code = 0; code <= 0x10FFFF; ++code) {
        const std::string bytes = encode(code);
        const Utf8Character character = decode_utf8(bytes, 0);
        const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        const bool right = surrogate ? !character.valid && character.bytes == 1 && character.code == 0xFFFD
                                     : character.valid && character.bytes == bytes.size() && character.code == code;
        const bool cut_valid = bytes.size() > 1 && decode_utf8(bytes.substr(0, bytes.size() - 1), 0).valid;
        std::string appended = "x";
        if (!surrogate) append_utf8(code, appended);
        const bool encoded = surrogate || appended == "x" + bytes;
        if (!right || cut_valid || !encoded) FAIL("code point " << static_cast<std::uint32_t>(code));
    }
}

TEST_CASE("overlong forms, code points beyond the last and stray bytes are no UTF-8") {
    for (const char* bytes : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
                              "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
                              "\xC3", "\xC3(", "\xE2\x82", "\xE2(\x82", "\xF0\x9F\x98"}) {
        const Utf8Character character = decode_utf8(bytes, 0);
        CHECK_FALSE(character.valid);
        CHECK(character.bytes == 1);
        CHECK_FALSE(is_valid_utf8(bytes));
        CHECK_FALSE(is_valid_utf8(std::string("a") + bytes));
    }
    CHECK(is_valid_utf8("a\u00e9\u20ac\U0001f600"));
    CHECK(is_valid_utf8(""));
    CHECK(is_valid_utf8(std::string(1, '\0')));
}

TEST_CASE("code points are counted, each byte that belongs to none as one") {
    CHECK(count_code_points("") == 0);
    CHECK(count_code_points("a\u00e9\u20ac\U0001f600") == 4);
    CHECK(count_code_points("\xff\xe2\x82x") == 4);
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int repeat = 0; repeat < 200; ++repeat) {
        std::string text;
        std::int64_t count = random() % 20;
        for (std::int64_t i = 0; i < count; ++i) {
            char32_t code = random() % 0x110000;
            if (code >= 0xD800 && code <= 0xDFFF) code = 'x';
            text += encode(code);
        }
        CHECK(is_valid_utf8(text));
        CHECK(count_code_points(text) == count);
    }
}
