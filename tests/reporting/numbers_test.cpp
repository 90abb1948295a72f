#include "reporting/numbers.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace deft::reporting;

TEST_CASE("counts carry SI prefixes at three digits") {
    CHECK(si(0) == "0");
    CHECK(si(7) == "7");
    CHECK(si(999) == "999");
    CHECK(si(1000) == "1.00k");
    CHECK(si(598600) == "599k");
    CHECK(si(999499) == "999k");
    CHECK(si(999500) == "1.00M");
    CHECK(si(1.2e6) == "1.20M");
    CHECK(si(12.34e9) == "12.3G");
    CHECK(si(6.1e15) == "6.10P");
    CHECK(si(9.996e6) == "10.0M");
    CHECK(si(12.5) == "12.5");
    CHECK(si(0.25) == "0.250");
    CHECK(si(-1500) == "-1.50k");
    CHECK(si(std::numeric_limits<double>::quiet_NaN()) == "NaN");
    CHECK(si(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("units take the prefix") {
    CHECK(si(10.1e12, "FLOP") == "10.1 TFLOP");
    CHECK(si(12, "B") == "12 B");
    CHECK(si(std::numeric_limits<double>::quiet_NaN(), "B") == "NaN B");
}

TEST_CASE("times for cells") {
    CHECK(small_seconds(2.134e-7) == "213 ns");
    CHECK(small_seconds(2.134e-5) == "21.3 us");
    CHECK(small_seconds(3.4e-3) == "3.40 ms");
    CHECK(small_seconds(0.9996e-3) == "1.00 ms");
    CHECK(small_seconds(12.34) == "12.3 s");
    CHECK(short_seconds(0.331) == "0.331s");
    CHECK(short_seconds(250) == "4m10s");
    CHECK(short_seconds(7500) == "2h05m");
    CHECK(short_seconds(76 * 3600) == "3d04h");
    CHECK(short_seconds(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("times that are still counted, and memory") {
    CHECK(rough_seconds(0.44) == "0.4s");
    CHECK(rough_seconds(59.4) == "59s");
    CHECK(rough_seconds(3600) == "1h00m");
    CHECK(rough_seconds(90'000) == "1d01h");
    CHECK(rough_seconds(std::numeric_limits<double>::quiet_NaN()) == "?");
    CHECK(binary_bytes(1536) == "1.5 KiB");
    CHECK(binary_bytes(12) == "12 B");
}

TEST_CASE("times grow their units") {
    CHECK(seconds(0) == "0.00 s");
    CHECK(seconds(0.0004) == "0.000 s");
    CHECK(seconds(0.331) == "0.331 s");
    CHECK(seconds(33.1) == "33.1 s");
    CHECK(seconds(59.94) == "59.9 s");
    CHECK(seconds(59.96) == "1 min 00 s");
    CHECK(seconds(250) == "4 min 10 s");
    CHECK(seconds(3599.6) == "1 h 00 min");
    CHECK(seconds(7500) == "2 h 05 min");
    CHECK(seconds(76 * 3600) == "3 d 04 h");
}

TEST_CASE("dollars keep two digits") {
    CHECK(dollars(0) == "$0");
    CHECK(dollars(0.000412) == "$0.00041");
    CHECK(dollars(0.0995) == "$0.10");
    CHECK(dollars(0.5) == "$0.50");
    CHECK(dollars(0.999) == "$1.00");
    CHECK(dollars(12.345) == "$12.35");
    CHECK(dollars(3e-9) == "$0.0000000030");
}

TEST_CASE("ratios") {
    CHECK(ratio(1) == "1.00x");
    CHECK(ratio(0.5) == "0.50x");
    CHECK(ratio(0.012) == "0.012x");
    CHECK(ratio(12.34) == "12.34x");
    CHECK(ratio(250) == "250x");
}

TEST_CASE("scores show three decimals, and the spread over seeds at the same place") {
    CHECK(score(3.4567) == "3.457");
    CHECK(score(0.25) == "0.250");
    CHECK(score(9.9996) == "10.00");
    CHECK(score(1234.5678) == "1235");
    CHECK(score(0) == "0.000");
    CHECK(score(-0.5) == "-0.500");
    CHECK(score(1.5e-7) == "1.50e-07");
    CHECK(mean_and_spread({}) == "-");
    CHECK(score(0.0005) == "0.001");
    CHECK(score(12.345) == "12.35");
    CHECK(mean_and_spread({0.004, 0.004}) == "0.004 ± 0.000");
    CHECK(mean_and_spread({0, 0}) == "0.000 ± 0.000");
    CHECK(mean_and_spread({3.5}) == "3.500");
    CHECK(mean_and_spread({3.40, 3.44}) == "3.420 ± 0.028");
    CHECK(mean_and_spread({3.5, 3.5}) == "3.500 ± 0.000");
    CHECK(mean_and_spread({3.5, 3.50001}) == "3.500 ± <0.001");
    CHECK(mean_and_spread({1.0, std::numeric_limits<double>::quiet_NaN()}) == "NaN");
    CHECK(standard_deviation(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9}) == Approx(2.13809));
    CHECK(std::isnan(standard_deviation(std::vector<double>{1})));
    CHECK(std::isnan(mean(std::vector<double>{})));
}

TEST_CASE("dates are UTC days") {
    CHECK(date(0) == "1970-01-01");
    CHECK(date(1714521600000) == "2024-05-01");
    CHECK(date(1714521599999) == "2024-04-30");
}
