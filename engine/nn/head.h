#pragma once
// Predicts the token at each position: the language-model head and its cross-entropy, fused. The logits of a training
// step never exist whole.

#include <cstdint>
#include <optional>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/norm.h"
#include "engine/nn/planner.h"

namespace deft::engine {

// A linear layer of the stream's width, its activation and a norm in front of the vocabulary: the "transform" of masked
// language models (Devlin et al. 2019, the released code).
struct HeadTransform {
    Activation activation = Activation::gelu_erf;
    NormSpec norm;

    bool operator==(const HeadTransform&) const = default;
};

struct HeadConfig {
    bool tied = true;         // its weight is the table of the tokens' vectors; else one of its own
    bool bias = false;        // one a vocabulary entry
    double target_share = 1;  // of the rows, how many have a target: the others cost the vocabulary nothing
    std::optional<HeadTransform> transform = {};

    bool operator==(const HeadConfig&) const = default;
};

class Head {
 public:
    // tokens (V, C): the table that a tied head shares.
    Head(const Planner&, const Parameter& tokens, const HeadConfig&);

    // loss and target (B, T), dx and x (B, T, C); gradients of scale times the sum of losses. target_rows: how many
    // targets are not kernels::kIgnoreTarget.
    void train(Exec&, Tensor loss, Tensor dx, Tensor x, Tensor target, std::int64_t target_rows,
               StepValue<double> scale, Accumulate) const;
    // greedy (B, T) or empty
    void evaluate(Exec&, Tensor loss, Tensor greedy, Tensor x, Tensor target, std::int64_t target_rows) const;
    // out (B, T, V), of the x (B, T, C) that the last call above was given.
    void logits(Exec&, Tensor out, Tensor x) const;

    // out (B, T, V) of any x (B, T, C), without a loss.
    void next_logits(Exec&, Tensor out, Tensor x) const;

    // A row's share of what the rows with a target cost, and the transform of every row.
    TrainingFlops flops() const;

 private:
    struct Transform {
        Transform(const Planner&, std::int64_t width, const HeadTransform&);
        // Returns what the vocabulary is compared with, (B, T, C).
        Tensor forward(Exec&, Tensor x) const;
        // dx (B, T, C) of d_output(), which is changed.
        void backward(Exec&, Tensor dx, Tensor x, Accumulate) const;
        Tensor d_output(const Tensor& x) const { return d_output_.view({x.dim(0), x.dim(1), x.dim(2)}); }

        Activation activation;
        Linear dense;
        Norm norm;
        Tensor pre_, act_;            // (B, T, C); pre of training alone
        Tensor d_output_, d_hidden_;  // (B, T, C), scratch
    };

    double target_share_;
    Parameter weight_, bias_;  // (V, C), (V) or empty
    std::optional<Transform> transform_;
};

}  // namespace deft::engine
