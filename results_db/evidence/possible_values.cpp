#include "results_db/evidence/possible_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/json.h"
#include "base/metric.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

namespace {

constexpr double kRounding = 1e-9;
constexpr std::int64_t kClockStepMs = 3'600'000;  // by which a machine's clock may be set back during an attempt
constexpr std::int64_t kMostDevices = 1'000'000;

struct Range {
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
};

Range range_of(const journal::Evaluation& score) {
    if (const Metric* metric = find_metric(score.metric)) return {metric->least, metric->most};
    if (score.better == "lower" || !score.unit.empty()) return {.least = 0};
    return {};
}

// NaN marks a value that is unknown, or diverged.
void require_within(double value, Range range, const std::string& what) {
    if (std::isnan(value)) return;
    if (value < range.least - kRounding)
        throw BadRecord{fmt::format("its {} is {}, which is less than {}", what, value, range.least)};
    if (value > range.most + kRounding)
        throw BadRecord{fmt::format("its {} is {}, which is more than {}", what, value, range.most)};
}

}  // namespace

void require_possible(const journal::Evaluation& score) {
    require_within(score.value, range_of(score), fmt::format("'{}' of {}", score.metric, score.task));
    require_within(score.chance, range_of(score),
                   fmt::format("level of chance of '{}' of {}", score.metric, score.task));
    require_within(score.standard_error, {.least = 0},
                   fmt::format("standard error of '{}' of {}", score.metric, score.task));
}

void require_possible(const journal::TrainPoint& point) {
    const auto require = [&](double value, const char* what) {
        require_within(value, {.least = 0}, fmt::format("'{}' at step {}", what, point.step));
    };
    require(point.flops, "flops");
    require(point.loss, "loss");
    require(point.lr, "lr");
    require(point.grad_norm, "grad_norm");
    require(point.tokens_per_second, "tokens_per_second");
}

void require_possible(const journal::ExpertLoad& load) {
    for (const double share : load.load)
        require_within(share, {0, 1}, fmt::format("load of an expert at step {}", load.step));
    require_within(load.dropped, {0, 1}, fmt::format("'dropped' at step {}", load.step));
}

void require_possible_times(const Json& attempt) {
    if (!attempt.contains("started_ms") || !attempt.contains("ended_ms")) return;
    const auto started = attempt.at("started_ms").get<std::int64_t>(),
               ended = attempt.at("ended_ms").get<std::int64_t>();
    if (ended + kClockStepMs < started)
        throw BadRecord{fmt::format("its 'ended_ms' is {}, before its 'started_ms', {}", ended, started)};
}

void require_possible_shape(const Json& setup) {
    for (const char* key : {"devices", "trials_per_device", "ranks"})
        if (setup.value(key, std::int64_t{1}) > kMostDevices)
            throw BadRecord{fmt::format("its '{}' is {}, more than {}", key, setup.at(key).dump(), kMostDevices)};
}

}  // namespace deft::results_db
