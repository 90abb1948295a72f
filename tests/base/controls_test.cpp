// Terminal control sequences are removed from text.

#include "base/controls.h"

#include "tests/catch.h"

using namespace deft;

TEST_CASE("controls become one character, tabs a blank, and invalid UTF-8 the replacement character") {
    CHECK(without_controls("a\x1b]0;b\x07\tc\n\x7f", '?') == "a?]0;b? c??");
    CHECK(without_controls("\xc2\x9b"
                           "a\u202e"
                           "b\u2066",
                           ' ') == " a b ");
    CHECK(without_controls("\xff\xc3\xa4", '?') == "\uFFFD\xc3\xa4");
}

TEST_CASE("lines stay lines") {
    CHECK(without_controls_in_lines("a\x1b\n  b\r\n") == "a?\n  b?\n");
    CHECK(without_controls_in_lines("").empty());
}
