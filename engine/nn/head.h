#pragma once
// The language-model head and its cross-entropy, fused: the logits of a training step never exist whole.

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/planner.h"

namespace deft::engine {

struct HeadConfig {
    bool tied = true;   // its weight is the table of the tokens' vectors; else one of its own
    bool bias = false;  // one a vocabulary entry
    double target_share = 1;  // of the rows, how many have a target: others cost the head nothing

    bool operator==(const HeadConfig&) const = default;
};

class Head {
 public:
    // tokens (V, C): the table that a tied head shares.
    Head(const Planner&, const Parameter& tokens, const HeadConfig&);

    // loss and target (B, T), dx and x (B, T, C); gradients of scale times the sum of losses. target_rows: how many
    // targets are not kernels::kIgnoreTarget.
    void train(Exec&, Tensor loss, Tensor dx, Tensor x, Tensor target, std::int64_t target_rows, double scale,
               Accumulate) const;
    // greedy (B, T) or empty
    void evaluate(Exec&, Tensor loss, Tensor greedy, Tensor x, Tensor target, std::int64_t target_rows) const;
    // out (B, T, V)
    void logits(Exec&, Tensor out, Tensor x) const;

    // A row's share of what the rows with a target cost.
    TrainingFlops flops() const { return {target_share_ * flops_of_parameters({weight_, bias_}).per_row, 0}; }

 private:
    double target_share_;
    Parameter weight_, bias_;  // (V, C), (V) or empty
};

}  // namespace deft::engine
