#pragma once
// How long a training step takes on several ranks, each of which trains its share of the batch, and how much of it the
// sum of gradients takes.

#include <cstdint>

#include "engine/bench/step.h"
#include "engine/comm/communicator.h"

namespace deft::engine {

// The configuration of one of `ranks` ranks. Errors: config, for a batch that they cannot share.
TrainerConfig rank_config(const StepBench& bench, int ranks);

// On random_training_data(). All ranks call the same in the same order.
class RankSteps {
 public:
    // Trains two steps, after which memory has been touched. threads: of each rank. Errors: those of
    // rank_config() and Trainer().
    RankSteps(const StepBench& bench, int threads, const Communicator& ranks = {});

    // The loss of the untrained model, over all ranks' rows.
    double first_loss() const { return first_loss_; }
    // Bytes that one step sends from this rank, and that all steps so far have sent.
    std::int64_t bytes_of_step() const { return bytes_of_step_; }
    std::int64_t bytes_sent() const { return trainer_.bytes_sent(); }

    // Seconds per step, from when all ranks begin to when all are done. Errors: nonfinite.
    double step(long steps);
    // Seconds per sum of gradients alone, for which no rank waits until another has computed them.
    double reduce(long sums);

 private:
    Communicator ranks_;
    Trainer trainer_;
    double first_loss_ = 0;
    std::int64_t bytes_of_step_ = 0;
};

}  // namespace deft::engine
