#include "engine/bench/rank_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "base/error.h"
#include "base/stopwatch.h"

namespace deft::engine {

namespace {

double seconds_on_all(const Communicator& ranks, long times, const std::function<void()>& work) {
    ranks.barrier();
    const Clock::time_point start = Clock::now();
    for (long i = 0; i < times; ++i) work();
    ranks.barrier();
    return seconds_since(start) / static_cast<double>(times);
}

}  // namespace

TrainerConfig rank_config(const StepBench& bench, int ranks) {
    if (bench.batch_size % ranks != 0)
        throw Error(ErrorKind::config, fmt::format("{} ranks cannot share a batch of {}", ranks, bench.batch_size),
                    "choose a batch that is a multiple of the ranks", "nothing was timed");
    TrainerConfig config = trainer_config_of(bench);
    config.micro_batch_size = bench.batch_size / ranks;
    return config;
}

RankSteps::RankSteps(const StepBench& bench, int threads, const Communicator& ranks)
    : ranks_(ranks),
      trainer_(rank_config(bench, ranks.size()), random_training_data(bench), Backend{Device::cpu, DType::f32, threads},
               InitialWeights::drawn, ranks) {
    first_loss_ = trainer_.step().loss;
    const std::int64_t before = bytes_sent();
    trainer_.step();
    bytes_of_step_ = bytes_sent() - before;
}

double RankSteps::step(long steps) {
    return seconds_on_all(ranks_, steps, [this] { trainer_.step(); });
}

double RankSteps::reduce(long sums) {
    // Sums of sums would grow beyond all numbers, and the next step overwrites its gradients.
    const Tensor gradients = trainer_.model().parameters().flat_gradients();
    const std::span<float> values(gradients.as<float>(), static_cast<std::size_t>(gradients.numel()));
    std::fill(values.begin(), values.end(), 0.0F);
    return seconds_on_all(ranks_, sums, [&] { ranks_.all_reduce(values); });
}

}  // namespace deft::engine
