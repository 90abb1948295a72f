#pragma once
// Linear layers: products, with bias and GELU in the library's call where it has one; GELU in float is ours. Real:
// float or bf16; gradients of weights are float.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// y = act(x W^T + bias). x (rows, in), w (out, in), bias (out) or null, y (rows, out).
// pre (rows, out) or null receives x W^T + bias, which the backward pass of GELU needs.
template <class Real>
void linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation);

// dx = (dy W) * act'(pre). dy (rows, out), w (out, in), dx (rows, in); pre (rows, in) is the pre-activation of the
// layer that made x, null when act is none.
template <class Real>
void linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation);

// dw (out, in) = or += dy^T x; dbias (out) or null = or += column sums of dy.
template <class Real>
void linear_backward_weight(Exec&, float* dw, float* dbias, const Real* dy, const Real* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate);

}  // namespace deft::kernels::cuda
