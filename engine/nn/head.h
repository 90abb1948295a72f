#pragma once
// The language-model head and its cross-entropy, fused: the logits of a training step never exist whole.

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/planner.h"

namespace deft::engine {

class Head {
 public:
    // With a weight (V, C) of its own, or one tied to another part's.
    Head(const Planner&, const Parameter& weight);

    // loss and target (B, T), dx and x (B, T, C); gradients of scale times the sum of losses. target_rows: how many
    // targets are not kernels::kIgnoreTarget.
    void train(Exec&, Tensor loss, Tensor dx, Tensor x, Tensor target, std::int64_t target_rows, double scale,
               Accumulate) const;
    // greedy (B, T) or empty
    void evaluate(Exec&, Tensor loss, Tensor greedy, Tensor x, Tensor target, std::int64_t target_rows) const;
    // out (B, T, V)
    void logits(Exec&, Tensor out, Tensor x) const;

    TrainingFlops flops() const { return flops_of_parameters({weight_}); }

 private:
    Parameter weight_;
};

}  // namespace deft::engine
