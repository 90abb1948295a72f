#pragma once
// Layer normalisation (Ba et al. 2016), with the residual and row-index forms that a pre-norm block needs.
// A stream is (B, T, C); index (B, K) names, sorted, the rows of each sample that are taken; index == nullptr: all
// rows, K == T. Real: float or bf16; statistics and gradients of weights are float.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// y = LN(stream rows) * weight + bias. y (B, K, C); gathered (B, K, C) receives the rows read, null without index;
// mean, rstd (B, K); stream (B, T, C); weight, bias (C).
template <class Real>
void layernorm_forward(Exec&, Real* y, Real* gathered, float* mean, float* rstd, const Real* stream,
                       const std::int32_t* index, const Real* weight, const Real* bias, std::int64_t B, std::int64_t T,
                       std::int64_t K, std::int64_t C);

// sum = a + delta, rounded to Real; y = LN(sum) * weight + bias. All (rows, C); mean, rstd (rows).
template <class Real>
void residual_layernorm_forward(Exec&, Real* y, Real* sum, float* mean, float* rstd, const Real* a, const Real* delta,
                                const Real* weight, const Real* bias, std::int64_t rows, std::int64_t C);

// out rows = a + delta. a, delta (B, K, C); out (B, T, C), its other rows left alone. Without index out may be a or
// delta.
template <class Real>
void residual_forward(Exec&, Real* out, const std::int32_t* index, const Real* a, const Real* delta, std::int64_t B,
                      std::int64_t T, std::int64_t K, std::int64_t C);

// dx = dresidual + d(LN)/dx . dy, written to dx rows (B, T, C) through index (other rows left alone).
// dy, x, dresidual (B, K, C), dresidual may be null (taken as zero) and without index may be dx itself;
// mean, rstd (B, K); dweight, dbias (C).
template <class Real>
void layernorm_backward(Exec&, Real* dx, const std::int32_t* index, float* dweight, float* dbias, const Real* dy,
                        const Real* dresidual, const Real* x, const float* mean, const float* rstd, const Real* weight,
                        std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate);

// out (B, K, C) = rows of stream (B, T, C).
template <class Real>
void gather_rows(Exec&, Real* out, const Real* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C);

}  // namespace deft::kernels::cuda
