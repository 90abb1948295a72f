#pragma once
// How fast samples are drawn, on one thread, from a difficulty index of many samples.

#include <cstdint>

#include "engine/data_efficiency/sampling/sampler.h"

namespace deft::engine {

struct SamplerRates {
    std::int64_t samples = 0;
    std::int64_t metrics = 0;
    double start_seconds = 0;        // from the mapped index to the first draw
    std::int64_t start_bytes = 0;    // peak memory that this took beside the index, by the process's own count
    double draws_per_second = 0;     // step after step, as a trainer draws
    double scattered_per_second = 0; // steps in random order
};

// Draws under `metrics` metrics (1 or 2) of invented values, each a percentile that grows by its root over half of
// `steps` steps of `batch` samples.
Sampler invented_sampler(std::int64_t samples, std::int64_t metrics, std::int64_t steps, std::int64_t batch);

// An invented index of `samples` values under `metrics` metrics (1 or 2), each a percentile that grows by its root over
// half of `steps` steps of `batch` samples.
SamplerRates sampler_rates(std::int64_t samples, std::int64_t metrics, std::int64_t steps, std::int64_t batch,
                           std::int64_t draws);

}  // namespace deft::engine
