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

TEST_CASE("a moment is read in its own zone") {
    CHECK(parse_timestamp("1970-01-01T00:00:01Z") == 1000);
    CHECK(parse_timestamp("1970-01-01T01:00:00+01:00") == 0);
    CHECK(parse_timestamp("1969-12-31T19:30:00-04:30") == 0);
    CHECK(parse_timestamp("2024-02-29T12:34:56.789+00:00") == 1709210096000);
    CHECK(parse_timestamp("2016-12-31T23:59:60Z") == 1483228800000);  // a leap second
    for (const char* text : {"", "2024-02-29", "2024-02-29T12:34:56", "2024-02-30T12:34:56Z", "2024-02-29 12:34:56Z",
                             "2024-02-29T24:00:00Z", "2024-02-29T12:60:00Z", "2024-02-29T12:34:61Z",
                             "2024-02-29T12:34:56.Z", "2024-02-29T12:34:56+1:00", "2024-02-29T12:34:56+01:00 ",
                             "2024-02-29T12:34:56+99:00", "2015/03/17-18:40:25"}) {
        INFO(text);
        CHECK_FALSE(parse_timestamp(text));
    }
}

TEST_CASE("A day is in the future until it has begun somewhere") {
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    CHECK_FALSE(is_future(today));
    CHECK_FALSE(is_future(today - std::chrono::days(1)));
    CHECK(is_future(today + std::chrono::days(2)));
    CHECK(is_future(*parse_date("9999-12-31")));
    CHECK_FALSE(is_future(*parse_date("0001-01-01")));
    // Tomorrow has begun at UTC+14 once it is 10 o'clock here.
    const bool has_begun = std::chrono::system_clock::now() - today >= std::chrono::hours(10);
    CHECK(is_future(today + std::chrono::days(1)) == !has_begun);
}
