#pragma once
// Who has what of a model that ranks train together. Ranks that follow each other, expert_ranks of them, divide the experts
// of each layer; the next as many have the same experts again.

#include "engine/comm/communicator.h"
#include "engine/nn/planner.h"
#include "engine/train/trainer_config.h"

namespace deft::engine {

// Errors: config, for ranks or experts that expert_ranks does not divide, and where there are no experts to divide.
void require_expert_ranks(const TrainerConfig& config, int ranks);

// The parts of that rank, without what they would be carried by.
ModelRanks model_ranks(const TrainerConfig& config, const RankOf& rank);

struct RankLayout {
    Communicator all;
    Communicator same_experts;  // that have the same experts as this rank
    ModelRanks model;
};
// All ranks call it. Errors: as require_expert_ranks().
RankLayout lay_out_ranks(const TrainerConfig& config, const Communicator& ranks);

}  // namespace deft::engine
