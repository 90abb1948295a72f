#pragma once
// Bytes that ranks send in a training step, from sizes alone: no rank starts, and a build without MPI plans the same.

#include <cstdint>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

// Payload that leaves a rank, as Communicator::bytes_sent() counts it, of `count` values of value_bytes each.
std::int64_t reduce_scatter_bytes(std::int64_t count, const RankOf& rank, std::int64_t value_bytes);
std::int64_t all_gather_bytes(std::int64_t count, const RankOf& rank, std::int64_t value_bytes);
std::int64_t all_reduce_bytes(std::int64_t count, const RankOf& rank, std::int64_t value_bytes);

// Sizes of what ranks exchange in a step.
struct ExchangedValues {
    struct Weight {
        std::int64_t elements = 0;  // of one rank
        bool decayed = false, of_experts = false;
        bool is_divided = false;  // the ranks have other experts each
        bool unrounded = false;   // the model reads it as it is updated
    };
    std::vector<Weight> weights;
    std::int64_t weight_bytes = 4;       // of one weight or gradient
    std::int64_t read_bytes = 4;         // of one weight as the model reads it, unless unrounded
    std::int64_t sums = 0;               // f64: gradient norm, losses, totals of experts
    std::vector<std::int64_t> observed;  // i64, by tensor: what a token dropper counted
};

// result, observed: see Trainer. Tensors may have no memory yet.
ExchangedValues exchanged_values(const ParameterTable& table, const Tensor& result,
                                 const std::vector<Tensor>& observed);

// A flat range of weights with those ranks that have it, and the place of one rank among them.
struct PlannedGroup {
    std::int64_t elements = 0;  // padding counted
    RankOf rank;
    bool is_divided = false;
    std::vector<Share> unrounded = {};  // likewise

    std::int64_t own() const { return share_of(elements, rank.rank, rank.ranks).size(); }
};

// Divided among expert_ranks neighbours, an expert's weights are summed over ranks that hold it; all others over
// all ranks. Without elements no group exists.
std::vector<PlannedGroup> planned_groups(const ExchangedValues& values, const RankOf& rank, int expert_ranks = 1);

// Bytes that leave one rank in a step, without rows for experts of other ranks and their counts. Plain data parallel
// gathers gradients, ZeRO-1 weights as the model reads them.
struct StepBytes {
    std::int64_t gradients_reduced = 0;
    std::int64_t gathered = 0;
    std::int64_t sums = 0;

    std::int64_t all() const { return gradients_reduced + gathered + sums; }
};
StepBytes planned_step_bytes(const ExchangedValues& values, const RankOf& rank, int expert_ranks = 1,
                             bool shares_moments = false);

}  // namespace deft::engine
