#pragma once
// The position-wise feed-forward part of a block (Vaswani et al. 2017, section 3.3), with GELU.

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"

namespace deft::engine {

class FeedForward {
 public:
    FeedForward(const Planner&, std::int64_t width, std::int64_t hidden);

    // out and x (B, K, C)
    void forward(Exec&, Tensor out, Tensor x) const;
    // What of forward() the backward pass reads, without out.
    void forward_hidden(Exec&, Tensor x) const;
    // What the activation put out, once more to the same bits; x (B, K, C) as in forward().
    void recompute_activation(Exec&, Tensor x) const;
    // dx, dout and x (B, K, C)
    void backward(Exec&, Tensor dx, Tensor dout, Tensor x, Accumulate) const;

    TrainingFlops flops() const { return in_.flops() + out_.flops(); }

 private:
    Tensor hidden(const Tensor& buffer, const Tensor& x) const {
        return buffer.view({x.dim(0), x.dim(1), buffer.columns()});
    }

    Linear in_, out_;
    Tensor pre_, act_;  // (B, K, F): before and after GELU
    Tensor d_hidden_;   // (B, K, F), scratch
};

}  // namespace deft::engine
