#pragma once
// Which samples a run draws, and how often: the same for a trainer and for a plan that trains nothing.

#include <array>
#include <cstdint>
#include <span>

#include "engine/data_efficiency/sampling/sampler.h"
#include "engine/train/accounting.h"
#include "engine/train/trainer_config.h"

namespace deft::engine {

// The sampler for a corpus of `samples` samples. Errors: config, for a curriculum of another corpus.
Sampler make_sampler(const TrainerConfig& config, std::int64_t samples);

// Adds a step's draws to counts.draws_by_tenth.
void count_draws(Counts& counts, std::span<const Sampler::Draw> draws, const Sampler& sampler);

// Statistics of the draws so far.
struct SamplingStatistics {
    std::int64_t pool = 0;  // samples admitted at the last step
    std::int64_t drawn = 0;
    std::int64_t repeated = 0;        // of these, drawn before
    std::array<double, 10> epochs{};  // draws a sample of each tenth of the samples, in the order of their admission
};

SamplingStatistics sampling_statistics(const Counts& counts, const UniqueTokens& unique, const Sampler& sampler);

}  // namespace deft::engine
