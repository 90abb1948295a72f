#pragma once
// Layer normalisation (Ba, Kiros & Hinton 2016, section 3.1) with residual and row-index forms.
// A stream is (B, T, C); index (B, K) names the rows of each sample that are taken; nullptr: all rows, K == T.

#include <cmath>

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// The stream row that row i of (B, K) stands for.
inline std::int64_t stream_row(const std::int32_t* index, std::int64_t i, std::int64_t T, std::int64_t K) {
    return index == nullptr ? i : i / K * T + index[i];
}

// Ba et al. 2016, equations 3 and 4, with eps under the root: y = (x - mean) / sqrt(var + eps) * weight + bias.
template <class Real>
void normalise_row(Real* y, Real& mean, Real& rstd, const Real* x, const Real* weight, const Real* bias,
                   std::int64_t C) {
    Real total = 0;
    for (std::int64_t c = 0; c < C; ++c) total += x[c];
    mean = total / Real(C);
    Real squares = 0;
    for (std::int64_t c = 0; c < C; ++c) squares += (x[c] - mean) * (x[c] - mean);
    rstd = 1 / std::sqrt(squares / Real(C) + Real(kLayerNormEps));
    for (std::int64_t c = 0; c < C; ++c) y[c] = (x[c] - mean) * rstd * weight[c] + bias[c];
}

// y (B, K, C), gathered (B, K, C) or null, mean, rstd (B, K), stream (B, T, C), weight, bias (C).
template <class Real>
void layernorm_forward(Exec&, Real* y, Real* gathered, Real* mean, Real* rstd, const Real* stream,
                       const std::int32_t* index, const Real* weight, const Real* bias, std::int64_t B, std::int64_t T,
                       std::int64_t K, std::int64_t C) {
    for (std::int64_t i = 0; i < B * K; ++i) {
        const Real* x = stream + stream_row(index, i, T, K) * C;
        for (std::int64_t c = 0; gathered != nullptr && c < C; ++c) gathered[i * C + c] = x[c];
        normalise_row(y + i * C, mean[i], rstd[i], x, weight, bias, C);
    }
}

// sum = a + delta; y = LN(sum) * weight + bias. All (rows, C); mean, rstd (rows).
template <class Real>
void residual_layernorm_forward(Exec&, Real* y, Real* sum, Real* mean, Real* rstd, const Real* a, const Real* delta,
                                const Real* weight, const Real* bias, std::int64_t rows, std::int64_t C) {
    for (std::int64_t i = 0; i < rows * C; ++i) sum[i] = a[i] + delta[i];
    for (std::int64_t r = 0; r < rows; ++r) normalise_row(y + r * C, mean[r], rstd[r], sum + r * C, weight, bias, C);
}

// out rows (B, T, C) = a + delta (B, K, C).
template <class Real>
void residual_forward(Exec&, Real* out, const std::int32_t* index, const Real* a, const Real* delta, std::int64_t B,
                      std::int64_t T, std::int64_t K, std::int64_t C) {
    for (std::int64_t i = 0; i < B * K; ++i)
        for (std::int64_t c = 0; c < C; ++c) out[stream_row(index, i, T, K) * C + c] = a[i * C + c] + delta[i * C + c];
}

// With n = (x - mean) rstd, mean and rstd functions of x, and g = dy weight, the chain rule gives
// dx = dresidual + rstd (g - mean(g) - n mean(g n)), dweight = sum dy n, dbias = sum dy.
template <class Real>
void layernorm_backward(Exec&, Real* dx, const std::int32_t* index, Real* dweight, Real* dbias, const Real* dy,
                        const Real* dresidual, const Real* x, const Real* mean, const Real* rstd, const Real* weight,
                        std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate accumulate) {
    for (std::int64_t c = 0; accumulate == Accumulate::no && c < C; ++c) dweight[c] = dbias[c] = 0;
    for (std::int64_t i = 0; i < B * K; ++i) {
        Real g_mean = 0, gn_mean = 0;
        for (std::int64_t c = 0; c < C; ++c) {
            const Real n = (x[i * C + c] - mean[i]) * rstd[i], g = dy[i * C + c] * weight[c];
            g_mean += g / Real(C);
            gn_mean += g * n / Real(C);
            dweight[c] += dy[i * C + c] * n;
            dbias[c] += dy[i * C + c];
        }
        for (std::int64_t c = 0; c < C; ++c) {
            const Real n = (x[i * C + c] - mean[i]) * rstd[i], g = dy[i * C + c] * weight[c];
            const Real residual = dresidual == nullptr ? Real(0) : dresidual[i * C + c];
            dx[stream_row(index, i, T, K) * C + c] = residual + rstd[i] * (g - g_mean - n * gn_mean);
        }
    }
}

inline std::size_t layernorm_backward_workspace(std::int64_t, std::int64_t) {
    return 0;
}

// out (B, K, C) = rows of stream (B, T, C).
template <class Real>
void gather_rows(Exec&, Real* out, const Real* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C) {
    for (std::int64_t i = 0; i < B * K; ++i)
        for (std::int64_t c = 0; c < C; ++c) out[i * C + c] = stream[stream_row(index, i, T, K) * C + c];
}

}  // namespace deft::kernels::reference
