#pragma once
// Multi-head attention, tiled with online softmax (Dao 2023, FlashAttention-2, algorithms 1 and 2): never a (T, T) matrix.

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// out = softmax(Q K^T / sqrt(d)) V per head; causal: position t attends to positions <= t.
// qkv (B, T, 3, H, d), out (B, T, H, d), lse (B, H, T) = log-sum-exp of each row of scaled scores.
void attention_forward(Exec&, float* out, float* lse, const float* qkv, std::int64_t B, std::int64_t T, std::int64_t H,
                       std::int64_t d, bool causal);
std::size_t attention_forward_workspace(int threads, std::int64_t T, std::int64_t d);

// dqkv (B, T, 3, H, d) from dout (B, T, H, d).
void attention_backward(Exec&, float* dqkv, const float* dout, const float* out, const float* qkv, const float* lse,
                        std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal);
std::size_t attention_backward_workspace(int threads, std::int64_t T, std::int64_t d);

}  // namespace deft::kernels::cpu
