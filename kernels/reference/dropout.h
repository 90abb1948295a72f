#pragma once
// Dropout (Srivastava et al. 2014, section 4).

#include "kernels/dropout_key.h"
#include "kernels/reference/exec.h"

namespace deft::kernels::reference {

// y (B, N) = residual + keep x / (1 - p); residual (B, N) or null.
template <class Real>
void dropout(Exec&, Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N,
             const DropoutKey& key) {
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t i = 0; i < N; ++i) {
            const std::uint32_t word = key.words(b, i / kDropoutGroup).word[i % kDropoutGroup];
            const Real kept = word < key.first_kept() ? Real(0) : x[b * N + i] * Real(key.scale());
            y[b * N + i] = residual == nullptr ? kept : residual[b * N + i] + kept;
        }
}

}  // namespace deft::kernels::reference
