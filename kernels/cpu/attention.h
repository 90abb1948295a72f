#pragma once
// Multi-head attention, tiled with online softmax (Dao 2023, FlashAttention-2, algorithms 1 and 2): never a (T, T) matrix.

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// out = softmax(Q K^T / sqrt(d)) V per head; causal: position t attends to positions <= t.
// qkv (B, T, 3, H, d), out (B, T, H, d), lse (B, H, T) = log-sum-exp of each row of scaled scores.
// length (B), not below 0: positions >= length are padding, which no position attends to; their rows of out and lse are
// 0. What is above T counts as T. Null: no padding.
void attention_forward(Exec&, float* out, float* lse, const float* qkv, std::int64_t B, std::int64_t T, std::int64_t H,
                       std::int64_t d, bool causal, const std::int32_t* length = nullptr);
std::size_t attention_forward_workspace(int threads, std::int64_t T, std::int64_t d);

// dqkv (B, T, 3, H, d) from dout (B, T, H, d); 0 of padding, whose dout is not read.
void attention_backward(Exec&, float* dqkv, const float* dout, const float* out, const float* qkv, const float* lse,
                        std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal,
                        const std::int32_t* length = nullptr);
std::size_t attention_backward_workspace(int threads, std::int64_t T, std::int64_t d);

}  // namespace deft::kernels::cpu
