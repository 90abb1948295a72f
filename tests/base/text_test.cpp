// Short texts (counts with nouns, starts of hashes, first lines), and the median.

#include "base/text.h"

#include "base/median.h"
#include "tests/catch.h"

using namespace deft;

TEST_CASE("one is singular, and zero and many are plural") {
    CHECK(counted(1, "session") == "1 session");
    CHECK(counted(std::size_t{0}, "session") == "0 sessions");
    CHECK(counted(2, "launch", "launches") == "2 launches");
    CHECK(counted(1, "launch", "launches") == "1 launch");
}

TEST_CASE("a hash is shortened, and a text that is not a hash stays complete") {
    CHECK(short_hash("109c61ef7957aabbccdd") == "109c61ef7957");
    CHECK(short_hash("unknown") == "unknown");
    CHECK(short_hash("").empty());
}

TEST_CASE("the first of a list, and how many are left") {
    const std::vector<std::string> names = {"a", "b", "c"};
    CHECK(first_of(names, 2) == "a, b and 1 more");
    CHECK(first_of(names, 1, "more rows") == "a and 2 more rows");
    CHECK(first_of(names, 3) == "a, b, c");
    CHECK(first_of({}, 3).empty());
}

TEST_CASE("the first line of a message") {
    CHECK(first_line("one\ntwo") == "one");
    CHECK(first_line("one") == "one");
    CHECK(first_line("\ntwo") == "");
    CHECK(first_line("") == "");
}

TEST_CASE("the lines of a message in one line, without their indents") {
    CHECK(in_one_line("one\n  help: two\n\n  three\n") == "one; help: two; three");
    CHECK(in_one_line("one") == "one");
    CHECK(in_one_line("").empty());
}

TEST_CASE("the median is the middle value, or between the two in the middle") {
    CHECK(deft::median({7}) == 7);
    CHECK(deft::median({9, 1, 4}) == 4);
    CHECK(deft::median({8, 1, 3, 2}) == 2.5);
}
