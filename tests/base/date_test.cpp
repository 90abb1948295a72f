#include "base/date.h"

#include "tests/catch.h"

using namespace deft;

TEST_CASE("dates of the calendar alone are dates") {
    REQUIRE(parse_date("1970-01-02"));
    CHECK(parse_date("1970-01-02")->time_since_epoch().count() == 1);
    CHECK(parse_date("2024-02-29")->time_since_epoch().count() == 19782);
    for (const char* text : {"", "2025", "2025-02-29", "2025-13-01", "2025-00-01", "2025-01-00", "2025-1-31",
                             "2025- 1-31", "+025-01-31", "2025-01-3x", "2025-01-31 ", "2025/01/31", "-025-01-31"}) {
        INFO(text);
        CHECK_FALSE(parse_date(text));
    }
}
