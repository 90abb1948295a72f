#pragma once
// Requirements of one rank in training on several: rows, memory, and bytes that it sends in a step, planned from sizes
// alone.

#include <array>
#include <cstdint>

#include "engine/core/backend.h"
#include "experiments/config.h"

namespace deft::experiments {

// Bytes of one rank's buffers, padding counted. Weights are those that the optimizer updates, and what the model reads
// of them where that is rounded.
struct RankMemory {
    std::int64_t weights = 0, expert_weights = 0;      // the latter among the former
    std::int64_t gradients = 0, expert_gradients = 0;  // likewise
    std::int64_t moments = 0;
    std::int64_t activations = 0, workspace = 0;
    std::int64_t all = 0;  // as the engine plans them, with what aligns these parts
};

// Bytes that leave one rank in a step. Rows to experts are an expectation: the gate gives each expert as many rows, and
// the step is the average one of the schedule. All others are exact.
struct RankTraffic {
    std::int64_t gradients_reduced = 0;
    std::int64_t gathered = 0;  // gradients, or where train.zero is 1 weights as the model reads them
    std::int64_t rows_to_experts = 0, rows_back = 0;
    std::int64_t sums = 0;  // gradient norm, losses, loads of experts, what a token dropper counts

    std::int64_t all() const { return gradients_reduced + gathered + rows_to_experts + rows_back + sums; }
};

struct CommunicationPlan {
    int ranks = 1, expert_ranks = 1;
    std::int64_t rows = 0;             // of the schedule's last step, on each rank
    std::int64_t at_once = 0;          // of them, the most in one micro-batch
    std::array<RankMemory, 2> memory;  // by train.zero
    RankTraffic traffic;
};

// Plan of the last rank, whose shares are the largest. Experts of a layer are divided among expert_ranks neighbouring
// ranks; activations have room for their capacity, or else for the rows of all these ranks. Errors: config, for ranks
// that do not divide the rows of every step, and as engine::require_expert_ranks().
CommunicationPlan plan_communication(const TrialConfig& config, engine::Device device, int ranks, int expert_ranks = 1);

bool has_experts(const TrialConfig& config);

}  // namespace deft::experiments
