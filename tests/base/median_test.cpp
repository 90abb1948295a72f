#include "base/median.h"

#include "tests/catch.h"

TEST_CASE("the median is the middle value, or between the two in the middle") {
    CHECK(deft::median({7}) == 7);
    CHECK(deft::median({9, 1, 4}) == 4);
    CHECK(deft::median({8, 1, 3, 2}) == 2.5);
}
