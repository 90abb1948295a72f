#pragma once
// Several things timed in turn, round by round in random order. Whatever slows the machine slows all of them, so ratios
// of times within a round stay as they are.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::sweeps {

struct Contestant {
    std::string name;
    std::function<double(long)> run;  // that many times in a row; returns seconds of one
};

// Returns the seconds of one run.
std::function<double(long)> mean_of_runs(std::function<double()> run);

struct RoundSettings {
    int rounds = 12;
    double segment_seconds = 0.3;  // of a contestant in a round, about; once at least
    std::uint64_t seed = 0;        // of the orders
};

// (contestants, rounds kept): seconds of one run. Each contestant runs twice before the first round: to warm up, and to
// see how often it runs in a segment, the same in every round. The first tenth of the rounds is dropped.
// progress(share done). Errors: data, for a time that is not positive.
std::vector<std::vector<double>> time_in_rounds(const std::vector<Contestant>& contestants,
                                                const RoundSettings& settings,
                                                const std::function<void(double)>& progress);

// a / b: the Hodges-Lehmann centre of the logarithms of the rounds' ratios, with its interval at 95%.
struct TimeRatio {
    double ratio = 1;
    std::optional<reporting::Interval> interval;  // nothing below six rounds
};
TimeRatio time_ratio(const std::vector<double>& a, const std::vector<double>& b);
// "0.553 [0.548, 0.559]".
std::string to_text(const TimeRatio& ratio);

}  // namespace deft::sweeps
