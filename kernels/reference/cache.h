#pragma once
// Keys and values that a model which generates keeps of the rows that it has seen.

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

template <class Real>
void cache_rows(Exec&, Real* cache, const Real* x, const CacheRows& s) {
    for (std::int64_t sample = 0; sample < s.samples; ++sample)
        for (std::int64_t k = 0; k < s.K; ++k)
            for (std::int64_t c = 0; c < s.C; ++c) {
                const std::int64_t row = (s.B == 1 ? 0 : sample) * s.K + k;
                cache[(sample * s.T + s.first(sample) + k) * s.C + c] = x[row * s.x_stride + c];
            }
}

}  // namespace deft::kernels::reference
