#pragma once
// Between alerts: where the next session should fall, if nothing has changed.

#include <cstddef>
#include <optional>
#include <span>

#include "reporting/statistics/verdict.h"

namespace deft::reporting {

struct PredictionRule {
    double confidence = 0.99;            // of one session; two beyond one end in a row are what counts
    std::size_t fewest = 10, most = 64;  // sessions that the interval is made from: the latest ones
    std::size_t hits = 2;                // sessions in a row
};

// mean +- t sqrt(1 + 1/n) s over the latest sessions, all on one level. Nothing below the fewest.
std::optional<Interval> prediction_interval(std::span<const double> level, const PredictionRule& rule = {});

enum class Departure { none, above, below };

struct LatestSessions {
    std::optional<Interval> expected;  // from the sessions before the latest `hits`; nothing: too few of them
    Departure departure = Departure::none;
};

// Whether the latest sessions all fall beyond the same end of what those before them predict. `level`: the sessions
// since the last change point, oldest first.
LatestSessions latest_sessions(std::span<const double> level, const PredictionRule& rule = {});

}  // namespace deft::reporting
