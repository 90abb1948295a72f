#pragma once
// Token bypass, after "Token Dropping for Efficient BERT Pretraining" (Hou et al. 2022, arXiv 2203.13240): unimportant
// tokens skip a run of middle layers, and all layers of the run keep the same ones.
//
// The importance of a vocabulary entry is the exponential moving average of the training loss of the targets that are
// it; a position counts as important as the entry of its token. The K most important are kept, the lower position where
// two are equal; the first positions and special tokens before all others, padding last.
//
// As in the authors' code (TensorFlow Model Garden): an entry that was never a target has importance 10, and the
// average keeps 0.995 of its old value; the new one is the mean loss of the entry's targets in a step. Ours: losses are
// summed as integers of 2^-24 nats (kernels/entry_loss.h), so that equal losses give equal sums however a step is
// split; special tokens have infinite importance, so that they compete with each other by position alone.
//
// Caveat for causal models: importance comes from the losses of past steps alone, but which K positions of a sample are
// the most important depends on all its tokens, so whether an early position is kept reveals a little of what follows
// it. A causal model trained with TokenBypass therefore sees a trace of the future in training, though not in
// evaluation, where nothing is dropped. random-LTD has no such trace.

#include <cstdint>
#include <vector>

#include "engine/data_efficiency/token_dropping/token_dropping.h"

namespace deft::engine {

struct TokenBypassSettings {
    double decay = 0.995;                      // of the moving average of losses, a step
    std::vector<std::int64_t> special_tokens;  // kept always, as far as there is room
};

}  // namespace deft::engine
