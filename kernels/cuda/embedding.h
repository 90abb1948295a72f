#pragma once
// Token plus learned position embedding. Real: float or bf16; gradients are float.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// out[b, t] = wte[token[b, t]] + wpe[t]. token (B, T), wte (V, C), wpe (max_T, C), out (B, T, C).
// A token outside [0, V), which a caller should have refused, gives a row of NaN.
template <class Real>
void embedding_forward(Exec&, Real* out, const std::int32_t* token, const Real* wte, const Real* wpe, std::int64_t B,
                       std::int64_t T, std::int64_t C, std::int64_t V);

// dwte (V, C) += rows of dout, always added: the tied head has written it. dwpe (max_T, C) = or += sums over B; rows
// from T on are zeroed when not accumulating. Tokens must lie in [0, V). B T < 2^31.
template <class Real>
void embedding_backward(Exec&, float* dwte, float* dwpe, const Real* dout, const std::int32_t* token, std::int64_t B,
                        std::int64_t T, std::int64_t C, std::int64_t max_T, Accumulate);

}  // namespace deft::kernels::cuda
