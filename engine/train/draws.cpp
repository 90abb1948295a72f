#include "engine/train/draws.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace deft::engine {

Sampler make_sampler(const TrainerConfig& config, std::int64_t samples) {
    if (config.curricula.empty()) return {config.seed, samples};
    for (const SampleCurriculum& metric : config.curricula)
        if (metric.index.samples() != samples)
            throw Error(ErrorKind::config,
                        fmt::format("the difficulty {} is of {} samples, and the corpus has {}", metric.name,
                                    metric.index.samples(), samples),
                        "analyse the corpus again");
    const Counts end = run_schedule(config);
    // Asked for ascending steps.
    Counts counts;
    const ModelFlops flops = model_size(config.model).flops;
    return {config.seed, admit(config.curricula, end.steps), end.steps, [&](std::int64_t step) {
                while (counts.steps < step) advance(counts, flops, config.techniques, plan_step(config, counts.steps));
                return counts.samples;
            }};
}

void count_draws(Counts& counts, std::span<const Sampler::Draw> draws, const Sampler& sampler) {
    for (const Sampler::Draw& draw : draws)
        ++counts.draws_by_tenth[static_cast<std::size_t>(draw.rank * 10 / sampler.samples())];
}

SamplingStatistics sampling_statistics(const Counts& counts, const UniqueTokens& unique, const Sampler& sampler) {
    SamplingStatistics statistics;
    statistics.pool = sampler.pool_size(std::max<std::int64_t>(0, counts.samples - 1));
    statistics.drawn = counts.samples;
    statistics.repeated = counts.samples - unique.samples();
    const std::int64_t all = sampler.samples();
    for (std::int64_t i = 0; i < 10; ++i) {
        const std::int64_t size = (all * (i + 1) + 9) / 10 - (all * i + 9) / 10;  // ranks r with floor(10 r / all) = i
        const auto draws = static_cast<double>(counts.draws_by_tenth[static_cast<std::size_t>(i)]);
        statistics.epochs[static_cast<std::size_t>(i)] = size > 0 ? draws / static_cast<double>(size) : 0;
    }
    return statistics;
}

}  // namespace deft::engine
