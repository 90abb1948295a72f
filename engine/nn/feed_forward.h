#pragma once
// The position-wise feed-forward part of a block (Vaswani et al. 2017, section 3.3); with a gated activation, Shazeer
// 2020, equation 6.

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"

namespace deft::engine {

struct FeedForwardConfig {
    std::int64_t hidden = 256;  // what the activation puts out
    Activation activation = Activation::gelu_tanh;
    bool bias = true;

    bool is_gated() const { return activation == Activation::swiglu; }
    bool operator==(const FeedForwardConfig&) const = default;
};

class FeedForward {
 public:
    FeedForward(const Planner&, std::int64_t width, const FeedForwardConfig&);

    // out and x (B, K, C)
    void forward(Exec&, Tensor out, Tensor x) const;
    // The tensors of forward() that the backward pass reads, without out.
    void forward_hidden(Exec&, Tensor x) const;
    // Recomputes the activation's output, to the same bits; x (B, K, C) as in forward().
    void recompute_activation(Exec&, Tensor x) const;
    // dx, dout and x (B, K, C); dx may be dout.
    void backward(Exec&, Tensor dx, Tensor dout, Tensor x, Accumulate) const;

    TrainingFlops flops() const { return in_.flops() + out_.flops(); }

 private:
    Tensor hidden(const Tensor& buffer, const Tensor& x) const {
        return buffer.view({x.dim(0), x.dim(1), buffer.columns()});
    }
    // The gradient of pre (B, K, F or 2F) of that of the output.
    Tensor backward_hidden(Exec&, Tensor dout, Tensor x) const;

    FeedForwardConfig config_;
    Linear in_, out_;
    Tensor pre_, act_;         // (B, K, F), or 2F of a gated activation; (B, K, F): before and after it
    Tensor d_hidden_, d_act_;  // scratch: their gradients; d_act of a gated activation alone
};

}  // namespace deft::engine
