#pragma once
// Who has what of a model that ranks train together. Ranks that follow each other, expert_ranks of them, divide the
// experts of each layer; the next as many have the same experts again.

#include "engine/comm/communicator.h"
#include "engine/nn/planner.h"
#include "engine/train/trainer_config.h"

namespace deft::engine {

// Errors: config, for ranks or experts that expert_ranks does not divide, and where there are no experts to divide.
void require_expert_ranks(const TrainerConfig& config, int ranks);

// The parts of that rank, without what they would be carried by.
ModelRanks model_ranks(const TrainerConfig& config, const RankOf& rank);

struct RankLayout {
    Communicator all;           // communication on the host
    Communicator values;        // all of them again: sums and weights, in the memory of their backend
    Communicator same_experts;  // likewise those that have the same experts as this rank
    ModelRanks model;

    // Their values, and the rows for experts, are from now on in the memory of each rank's device. scratch: of the
    // device. All ranks call it. Errors: as Communicator::use_device().
    void use_device(const kernels::cuda::Exec& exec, std::span<std::byte> scratch) const;
    // Payload that left this rank through all of these.
    std::int64_t bytes_sent() const;
};
// All ranks call it. Errors: as require_expert_ranks().
RankLayout lay_out_ranks(const TrainerConfig& config, const Communicator& ranks);

}  // namespace deft::engine
