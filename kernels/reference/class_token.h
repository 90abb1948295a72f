#pragma once
// The token of the class in front of a sample's rows.

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

template <class Real>
void class_token_forward(Exec&, Real* out, const Real* token, const Real* x, const Real* position, std::int64_t B,
                         std::int64_t K, std::int64_t C) {
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t t = 0; t < K + 1; ++t)
            for (std::int64_t c = 0; c < C; ++c) {
                const Real value = t == 0 ? token[c] : x[(b * K + t - 1) * C + c];
                out[(b * (K + 1) + t) * C + c] = value + (position != nullptr ? position[t * C + c] : Real(0));
            }
}

template <class Real>
void class_token_backward(Exec&, Real* dtoken, Real* dx, Real* dposition, const Real* dout, std::int64_t B,
                          std::int64_t K, std::int64_t C, Accumulate accumulate) {
    const auto start = [&](Real* sum, std::int64_t count) {
        for (std::int64_t i = 0; accumulate == Accumulate::no && i < count; ++i) sum[i] = 0;
    };
    start(dtoken, C);
    if (dposition != nullptr) start(dposition, (K + 1) * C);
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t t = 0; t < K + 1; ++t)
            for (std::int64_t c = 0; c < C; ++c) {
                const Real gradient = dout[(b * (K + 1) + t) * C + c];
                if (t == 0) dtoken[c] += gradient;
                if (t > 0) dx[(b * K + t - 1) * C + c] = gradient;
                if (dposition != nullptr) dposition[t * C + c] += gradient;
            }
}

}  // namespace deft::kernels::reference
