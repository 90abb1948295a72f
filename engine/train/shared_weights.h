#pragma once
// Weights that ranks train together, each on rows of its own. Of every flat group a rank owns one contiguous share: the
// gradients of all ranks are summed to the owner. Either all ranks then gather the sums and update everything, or each
// updates its share alone, and the weights are gathered: ZeRO-1 (Rajbhandari et al. 2020, section 5.1). An update is of
// each element alone, and so both give the same bits.

#include <vector>

#include "engine/comm/communicator.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

struct SharedGroup {
    ParameterTable::Group group;
    Communicator ranks;  // those that have these weights, and their values
    // (blocks): the elements of each block's weights, one after the other; none where it has none here.
    std::vector<Share> of_block;
    // Elements of weights that the model reads unrounded, beside the rounded ones.
    std::vector<Share> unrounded;
};

// values: of all ranks; of_divided: of those that have the same experts as this one.
std::vector<SharedGroup> shared_groups(const ParameterTable& table, std::size_t blocks, const Communicator& values,
                                       const Communicator& of_divided);

// Begins to sum the gradients of this rank's share of each group over its ranks, those of one block, which are as they
// will be. A rank that is ahead goes on meanwhile.
void begin_summing_block(const std::vector<SharedGroup>& groups, std::int64_t block);
// Once all blocks are begun: gradients of this rank's share = their sums, those that are of no block too; the others
// stay as they are.
void finish_summing(const std::vector<SharedGroup>& groups);
// squares (1) f64 = the sum of the squares of these. Summed over all ranks, they are those of the whole gradient.
void sum_own_squares(Exec& exec, const std::vector<SharedGroup>& groups, const Tensor& squares);

// Each rank's share of gradients, put in place on all; or of the weights that the model reads; or of those that are
// updated.
void gather_gradients(const std::vector<SharedGroup>& groups);
void gather_weights(const std::vector<SharedGroup>& groups);
void gather_values(const std::vector<SharedGroup>& groups);

}  // namespace deft::engine
