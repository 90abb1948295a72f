#pragma once
// The samples that a trial would draw from its corpus, step by step, without training.

#include <cstdint>

#include "engine/train/draws.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Totals of all steps. A step's packed samples fill its rows except for the rest of reshaping; BERT's have a row each,
// padded to the length of the step.
struct DrawTotals {
    std::int64_t steps = 0;
    std::int64_t tokens = 0;  // real ones, repeats counted; of BERT's samples with their special tokens
    std::int64_t padding_tokens = 0;
    std::int64_t cut_tokens = 0;     // of drawn samples, left out by truncation
    std::int64_t masked_tokens = 0;  // of BERT's samples: what a model would have to predict
    std::int64_t first_pool = 0;     // samples admitted at the first step
    engine::SamplingStatistics sampling;
};

// The draws are those that the trainer makes. Errors: as add_curriculum() and engine::make_sampler().
DrawTotals simulate_draws(const TrialConfig& config, const Dataset& samples, const PrepareProgress& progress = {});

}  // namespace deft::experiments
