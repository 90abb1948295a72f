#pragma once
// Token plus learned position embedding.

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// out[b, t] = wte[token[b, t]] + wpe[t]. token (B, T), wte (V, C), wpe (max_T, C), out (B, T, C).
// Errors: config, for a token outside [0, V).
void embedding_forward(Exec&, float* out, const std::int32_t* token, const float* wte, const float* wpe,
                       std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t V);

// dwte (V, C) += rows of dout, always added: the tied head has written it. dwpe (max_T, C) = or += sums over B; rows from T
// on are zeroed when not accumulating.
void embedding_backward(Exec&, float* dwte, float* dwpe, const float* dout, const std::int32_t* token, std::int64_t B,
                        std::int64_t T, std::int64_t C, std::int64_t max_T, Accumulate);

}  // namespace deft::kernels::cpu
