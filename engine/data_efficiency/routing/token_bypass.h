#pragma once
// Token bypass, after "Token Dropping for Efficient BERT Pretraining" (Hou et al. 2022, arXiv 2203.13240): unimportant
// tokens skip a run of middle layers, and all layers of the run keep the same ones.
//
// The importance of a vocabulary entry is the exponential moving average of the training loss of the targets that are
// it; a position counts as important as the entry of its token. The K most important are kept, the lower position where
// two are equal; the first positions and special tokens before all others, padding last.
//
// As in the authors' code (TensorFlow Model Garden): an entry that was never a target has importance 10, and the average
// keeps 0.995 of its old value; the new one is the mean loss of the entry's targets in a step. Ours: losses are summed as
// integers of 2^-24 nats (kernels/entry_loss.h), so that equal losses give equal sums however a step is split; special
// tokens have infinite importance, so that they compete with each other by position alone.
//
// Caveat for causal models: importance comes from the losses of past steps alone, but which K positions of a sample are
// the most important depends on all its tokens, so whether an early position is kept tells a little of what comes after
// it. A causal model trained with TokenBypass therefore sees a trace of the future in training, though not in
// evaluation, where nothing is dropped. random-LTD has no such trace.

#include <vector>

#include "engine/core/arena.h"
#include "engine/core/ops.h"
#include "engine/data_efficiency/routing/routing.h"

namespace deft::engine {

struct TokenBypassRouter {
    static constexpr float kUnseenImportance = 10;

    double decay = 0;
    std::vector<std::int32_t> special_tokens;
    Tensor importance;       // (V) f32
    Tensor loss_sum, count;  // (V) i64: of the step so far

    // Every entry as never seen.
    void start(Exec& exec) const;
    // index (1, B, K)
    void select(Exec& exec, Tensor index, std::int64_t keep_first, const MicroBatch& batch) const {
        select_important_tokens(exec, index, importance, batch.token, keep_first, batch.length);
    }
    void observe(Exec& exec, Tensor target, Tensor loss, Accumulate accumulate) const {
        add_entry_losses(exec, loss_sum, count, loss, target, accumulate);
    }
    void finish_step(Exec& exec, Tensor grad_norm, Tensor total_loss) const {
        update_importance(exec, importance, loss_sum, count, grad_norm, total_loss, decay);
    }
    Tensor state() const { return importance; }
};

TokenBypassRouter plan_token_bypass(Arena& arena, double decay, std::vector<std::int32_t> special_tokens,
                                    std::int64_t vocab);

}  // namespace deft::engine
