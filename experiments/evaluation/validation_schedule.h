#pragma once
// When a model is validated while it trains: eval.every.

#include <cstdint>
#include <string>

#include "engine/train/accounting.h"

namespace deft::experiments {

struct ValidationSchedule {
    enum class Unit { never, steps, share };
    Unit unit = Unit::never;
    // Steps, or a share of the run as numerator / denominator of its budget in layer-averaged tokens.
    std::int64_t steps = 0;
    double numerator = 0, denominator = 1;
};

// From "20 times", "500 steps" or "2.5%"; an empty text is never. Errors: config, without a place.
ValidationSchedule parse_validation_schedule(const std::string& text);

// How many times a model of these counts is to have been validated.
std::int64_t validations_due(const ValidationSchedule& schedule, const engine::Counts& counts,
                             std::int64_t budget_layer_tokens);

// Whether a trial of this many steps is validated before its end.
bool validates_during_training(const ValidationSchedule& schedule, std::int64_t steps);

}  // namespace deft::experiments
