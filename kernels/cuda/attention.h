#pragma once
// Multi-head attention, tiled with online softmax (Dao 2023, FlashAttention-2, algorithms 1 and 2): never a (T, T)
// matrix. Real: float or bf16; lse and all arithmetic are float.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

inline constexpr std::int64_t kMostHeadSize = 128;

// out = softmax(Q K^T / sqrt(d)) V per head; causal: position t attends to positions <= t.
// qkv (B, T, 3, H, d), out (B, T, H, d), lse (B, H, T) = log-sum-exp of each row of scaled scores.
// length (B), not below 0: positions >= length are padding, which no position attends to; their rows of out and lse are
// 0. What is above T counts as T. Null: no padding.
// Errors: config, for d > kMostHeadSize; likewise below.
template <class Real>
void attention_forward(Exec&, Real* out, float* lse, const Real* qkv, std::int64_t B, std::int64_t T, std::int64_t H,
                       std::int64_t d, bool causal, const std::int32_t* length = nullptr);

// dqkv (B, T, 3, H, d) from dout (B, T, H, d); 0 of padding.
template <class Real>
void attention_backward(Exec&, Real* dqkv, const Real* dout, const Real* out, const Real* qkv, const float* lse,
                        std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal,
                        const std::int32_t* length = nullptr);

}  // namespace deft::kernels::cuda
