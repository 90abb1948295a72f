#pragma once
// From rows to one row a sample, and from images to rows.

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

template <class Real>
void pool_forward(Exec&, Real* y, const Real* x, std::int64_t B, std::int64_t K, std::int64_t C, Pooling pooling) {
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t c = 0; c < C; ++c) {
            Real sum = 0;
            for (std::int64_t k = 0; k < (pooling == Pooling::first ? 1 : K); ++k) sum += x[(b * K + k) * C + c];
            y[b * C + c] = pooling == Pooling::first ? sum : sum / Real(K);
        }
}

template <class Real>
void pool_backward(Exec&, Real* dx, const Real* dy, std::int64_t B, std::int64_t K, std::int64_t C, Pooling pooling,
                   Accumulate accumulate) {
    for (std::int64_t i = 0; i < B * K * C; ++i) {
        const std::int64_t b = i / (K * C), k = i / C % K, c = i % C;
        const Real g = pooling == Pooling::mean ? dy[b * C + c] / Real(K) : k == 0 ? dy[b * C + c] : Real(0);
        dx[i] = accumulate == Accumulate::yes ? dx[i] + g : g;
    }
}

template <class Real, class Pixel>
void patchify(Exec&, Real* out, const Pixel* images, const PatchShape& s) {
    for (std::int64_t b = 0; b < s.B; ++b)
        for (std::int64_t row = 0; row < s.H; ++row)
            for (std::int64_t col = 0; col < s.W; ++col)
                for (std::int64_t c = 0; c < s.channels; ++c) {
                    const std::int64_t patch = (b * (s.H / s.P) + row / s.P) * (s.W / s.P) + col / s.P;
                    const std::int64_t within = (row % s.P * s.P + col % s.P) * s.channels + c;
                    const Real pixel = Real(images[((b * s.H + row) * s.W + col) * s.channels + c]);
                    out[patch * s.patch_values() + within] = pixel * Real(s.scale) + Real(s.shift);
                }
}

}  // namespace deft::kernels::reference
