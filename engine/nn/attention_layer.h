#pragma once
// Multi-head self-attention with its projections (Vaswani et al. 2017, section 3.2.2).

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

class AttentionLayer {
 public:
    AttentionLayer(const Planner&, std::int64_t width, std::int64_t heads, bool causal);

    // out and x (B, K, C), or (1, M, C) of packed rows.
    void forward(Exec&, Tensor out, Tensor x, const StreamRows&) const;
    // dx, dout and x (B, K, C); dx is not dout.
    void backward(Exec&, Tensor dx, Tensor dout, Tensor x, const StreamRows&, Accumulate) const;

    TrainingFlops flops() const;

 private:
    void attend(Exec&, Tensor out, Tensor qkv, const StreamRows&) const;
    void attend_packed(Exec&, Tensor out, Tensor qkv, const StreamRows&) const;
    AttentionTensors heads_of(const Tensor& qkv) const { return fused_heads(qkv, heads_, heads_); }
    Tensor lse(std::int64_t B, std::int64_t K) const { return lse_.view({B, heads_, K}); }

    std::int64_t width_, heads_;
    bool causal_;
    Linear qkv_linear_, output_;
    Tensor qkv_, attended_, lse_;  // (B, K, 3C), (B, K, C), (B, H, K)
    // Scratch: the gradient of qkv (B, K, 3C), and of packed rows what stands at each position, (B, T, 3C), (B, T, C).
    Tensor d_qkv_, positions_;
};

}  // namespace deft::engine
