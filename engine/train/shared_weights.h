#pragma once
// Weights that ranks train together, each on rows of its own. Of every flat group a rank owns one contiguous share: the
// gradients of all ranks are summed to the owner. Either all ranks then gather the sums and update everything, or each
// updates its share alone, and the weights are gathered: ZeRO-1 (Rajbhandari et al. 2020, section 5.1). An update is of each
// element alone, and so both give the same bits.

#include <vector>

#include "engine/comm/communicator.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

// Of a CPU, where tensors are the host's memory and the model reads the weights that are updated, or of one rank.
struct SharedGroup {
    ParameterTable::Group group;
    Communicator ranks;  // those that have these weights
};

// ranks: all; of_divided: those that have the same experts as this one.
std::vector<SharedGroup> shared_groups(const ParameterTable& table, const Communicator& ranks,
                                       const Communicator& of_divided);

// Gradients of this rank's share of each group = their sums over its ranks; the others stay as they are.
void sum_own_gradients(const std::vector<SharedGroup>& groups);
// squares (1) f64 = the sum of the squares of these. Summed over all ranks, they are those of the whole gradient.
void sum_own_squares(Exec& exec, const std::vector<SharedGroup>& groups, const Tensor& squares);

// Each rank's share of gradients, or of weights, put in place on all.
void gather_gradients(const std::vector<SharedGroup>& groups);
void gather_weights(const std::vector<SharedGroup>& groups);

}  // namespace deft::engine
