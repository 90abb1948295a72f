#pragma once
// How much of the time of scoring requests is the model's forward pass.

#include <cstdint>

#include "engine/bench/step.h"

namespace deft::experiments {

struct ScoringTimes {
    double scoring_seconds = 0;  // medians of the rounds
    double forward_seconds = 0;  // plain forward passes of full rows, and nothing else
    double ratio = 0;           // tokens a second scored over those of the forward pass, the median of each round's own
    std::int64_t tokens = 0;    // of the requests
    std::int64_t computed = 0;  // of them, beginnings that choices share once
    std::int64_t forward_tokens = 0;
};

// `questions` random questions of `choices` requests each, whose lengths spread evenly over an eighth to all of the
// model's length. One choice: its last one to eight tokens are scored. More: they share three quarters of it, and the
// rest is scored. The forward pass takes as many tokens in full batches, of which the same share is scored. Untrained
// weights. Rounds alternate.
ScoringTimes time_scoring(const engine::StepBench& bench, const engine::Backend& backend, std::int64_t questions,
                          std::int64_t choices, int rounds);

}  // namespace deft::experiments
