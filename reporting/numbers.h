#pragma once
// Numbers as people read them; one spelling for one value.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace deft::reporting {

// Three significant digits with an SI prefix: "599k", "1.20M"; whole numbers below 1000 as they are.
std::string si(double value);
// With a unit: "10.1 TFLOP", "25.3 GB".
std::string si(double value, const char* unit);
// "0.331 s", "33.1 s", "4 min 10 s", "2 h 05 min", "3 d 04 h".
std::string seconds(double value);
// The same for table cells: "33.1s", "4m10s", "2h05m", "3d04h".
std::string short_seconds(double value);
// For a running time, in whole units from ten seconds on: "9.1s", "33s", "4m10s", "2h05m", "3d04h"; "?"
// where nobody knows.
std::string rough_seconds(double value);
// For durations far below a second: "213 ns", "21.3 us", "3.40 ms", "1.20 s".
std::string small_seconds(double value);
// Memory: "12.3 MiB".
std::string binary_bytes(double value);
// Two significant digits below a dollar, cents above: "$0.00041", "$12.34".
std::string dollars(double value);
// "12.3%", of a share.
std::string percent(double share);
// "1.00x".
std::string ratio(double value);
// Three decimals below 10, four significant digits above, an exponent where those would read as zero: "3.457", "0.253".
std::string score(double value);
// "3.457 ± 0.012"; without a spread for one value, "-" for none.
std::string mean_and_spread(const std::vector<double>& values);
// "2024-05-01", in UTC.
std::string date(std::int64_t ms_since_epoch);
// "2024-05-01 13:05:59 UTC".
std::string date_and_time(std::int64_t ms_since_epoch);

bool all_finite(std::span<const double> values);
double mean(std::span<const double> values);
// Sample standard deviation: divided by n - 1. NaN below two values.
double standard_deviation(std::span<const double> values);

}  // namespace deft::reporting
