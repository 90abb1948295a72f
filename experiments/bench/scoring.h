#pragma once
// How much of the time of scoring requests is the model's forward pass.

#include <cstdint>

#include "engine/bench/step.h"

namespace deft::experiments {

struct ScoringTimes {
    double scoring_seconds = 0;  // medians of the rounds
    double forward_seconds = 0;  // the same batches through the model, and nothing else
    double ratio = 0;            // scoring over forward, the median of each round's own
    std::int64_t tokens = 0;     // of the requests
    std::int64_t padding = 0;    // positions computed beside them
};

// Random requests whose lengths spread evenly over an eighth to all of the model's length, of which the last one to
// eight tokens are scored, as tasks of multiple choice have them. Untrained weights. Rounds alternate.
ScoringTimes time_scoring(const engine::StepBench& bench, const engine::Backend& backend, std::int64_t requests,
                          int rounds);

}  // namespace deft::experiments
