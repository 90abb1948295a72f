#pragma once
// Dropout (Srivastava et al. 2014, section 4).

#include "kernels/dropout_key.h"
#include "kernels/reference/exec.h"

namespace deft::kernels::reference {

template <class Real>
void dropout(Exec&, Real* y, const Real* x, const Real* residual, std::int64_t B, std::int64_t N,
             const DropoutKey& key) {
    for (std::int64_t b = 0; b < B; ++b) {
        const std::int64_t first = key.start == nullptr ? b * N : key.start[b] * key.columns;
        const std::int64_t end = key.start == nullptr ? first + N : key.start[b + 1] * key.columns;
        for (std::int64_t at = first; at < end; ++at) {
            const std::int64_t i = at - first;
            const std::uint32_t word = key.words(b, i / kDropoutGroup).word[i % kDropoutGroup];
            const Real kept = word < key.first_kept() ? Real(0) : x[at] * Real(key.scale());
            y[at] = residual == nullptr ? kept : residual[at] + kept;
        }
    }
}

}  // namespace deft::kernels::reference
