#include "experiments/evaluation/validation_schedule.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "experiments/size_limits.h"
#include "kernels/decimal_rounding.h"

namespace deft::experiments {

namespace {

constexpr double kMostTimes = 100'000;

[[noreturn]] void refuse(const std::string& text) {
    throw Error(ErrorKind::config, "\"" + text + "\" is not a schedule of validations",
                "write \"20 times\", \"500 steps\" or \"5%\"");
}

}  // namespace

ValidationSchedule parse_validation_schedule(const std::string& text) {
    ValidationSchedule schedule;
    if (text.empty()) return schedule;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (error != std::errc() || !std::isfinite(number) || number <= 0) refuse(text);
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    const bool whole = number == std::floor(number);
    if (unit == "%" && number <= 100 && 100 / number <= kMostTimes) {
        schedule.unit = ValidationSchedule::Unit::share;
        schedule.numerator = 100;
        schedule.denominator = number;
    } else if (unit == "times" && whole && number <= kMostTimes) {
        schedule.unit = ValidationSchedule::Unit::share;
        schedule.numerator = number;
    } else if (unit == "steps" && whole && number <= static_cast<double>(kMostSteps)) {
        schedule.unit = ValidationSchedule::Unit::steps;
        schedule.steps = static_cast<std::int64_t>(number);
    } else {
        refuse(text);
    }
    return schedule;
}

std::int64_t validations_due(const ValidationSchedule& schedule, const engine::Counts& counts,
                             std::int64_t budget_layer_tokens) {
    switch (schedule.unit) {
        case ValidationSchedule::Unit::never:
            return 0;
        case ValidationSchedule::Unit::steps:
            return counts.steps / schedule.steps;
        case ValidationSchedule::Unit::share:
            return static_cast<std::int64_t>(
                kernels::floor_of_decimal(static_cast<double>(counts.layer_tokens) * schedule.numerator /
                                          (static_cast<double>(budget_layer_tokens) * schedule.denominator)));
    }
    return 0;
}

bool validates_during_training(const ValidationSchedule& schedule, std::int64_t steps) {
    switch (schedule.unit) {
        case ValidationSchedule::Unit::never:
            return false;
        case ValidationSchedule::Unit::steps:
            return schedule.steps < steps;
        case ValidationSchedule::Unit::share:
            return schedule.numerator > schedule.denominator;
    }
    return false;
}

}  // namespace deft::experiments
