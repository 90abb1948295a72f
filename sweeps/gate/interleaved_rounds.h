#pragma once
// Several things timed in turn, round by round in random order. Whatever slows the machine slows all of them, so ratios
// of times within a round stay as they are.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"
#include "sweeps/driver/progress.h"

namespace deft::sweeps {

struct Contestant {
    std::vector<std::string> names;   // the first cells of its row in a table
    std::function<double(long)> run;  // that many times in a row; returns seconds of one
    // The cells that its median seconds come to; none where it has no row.
    std::function<std::vector<std::string>(double)> cells = {};
    std::vector<std::size_t> beside = {};  // places of contestants that its time is divided by: a cell each
    std::vector<double> seconds = {};      // of one run, in each round that is kept: time_in_rounds() fills it
};

// Returns the seconds of one run.
std::function<double(long)> mean_of_runs(std::function<double()> run);

struct RoundSettings {
    int rounds = 12;
    double segment_seconds = 0.3;  // of a contestant in a round, about; once at least
    std::uint64_t seed = 0;        // of the orders
};
// All but the first tenth.
int rounds_kept(const RoundSettings& settings);

// Each contestant runs twice before the first round: to warm up, and to see how often it runs in a segment, the same in
// every round. progress(what, share done).
// Errors: data, for a time that is not positive.
void time_in_rounds(std::vector<Contestant>& contestants, const RoundSettings& settings, const std::string& what,
                    const ShowProgress& progress);

// a / b: the Hodges-Lehmann centre of the logarithms of the rounds' ratios, with its interval at 95%.
struct TimeRatio {
    double ratio = 1;
    std::optional<reporting::Interval> interval;  // nothing below six rounds
};
TimeRatio time_ratio(const std::vector<double>& a, const std::vector<double>& b);
// "0.553 [0.548, 0.559]".
std::string to_text(const TimeRatio& ratio);
// How a ratio was found, for a note.
std::string method_of_ratios(const RoundSettings& settings);

}  // namespace deft::sweeps
