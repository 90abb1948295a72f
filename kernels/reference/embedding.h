#pragma once
// Token plus learned position embedding (Radford et al. 2018, section 3.1: h0 = U We + Wp).

#include <string>

#include "base/error.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// out[b, t] = wte[token[b, t]] + wpe[t]. token (B, T), wte (V, C), wpe (max_T, C), out (B, T, C).
template <class Real>
void embedding_forward(Exec&, Real* out, const std::int32_t* token, const Real* wte, const Real* wpe, std::int64_t B,
                       std::int64_t T, std::int64_t C, std::int64_t V) {
    for (std::int64_t i = 0; i < B * T; ++i) {
        if (token[i] < 0 || token[i] >= V)
            throw Error(ErrorKind::config, "token " + std::to_string(token[i]) + " lies outside the vocabulary");
        for (std::int64_t c = 0; c < C; ++c) out[i * C + c] = wte[token[i] * C + c] + wpe[i % T * C + c];
    }
}

// dwte (V, C) += rows of dout; dwpe (max_T, C) = or += sums over B.
template <class Real>
void embedding_backward(Exec&, Real* dwte, Real* dwpe, const Real* dout, const std::int32_t* token, std::int64_t B,
                        std::int64_t T, std::int64_t C, std::int64_t max_T, Accumulate accumulate) {
    for (std::int64_t i = 0; accumulate == Accumulate::no && i < max_T * C; ++i) dwpe[i] = 0;
    for (std::int64_t i = 0; i < B * T; ++i)
        for (std::int64_t c = 0; c < C; ++c) {
            dwte[token[i] * C + c] += dout[i * C + c];
            dwpe[i % T * C + c] += dout[i * C + c];
        }
}

}  // namespace deft::kernels::reference
