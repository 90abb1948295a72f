#pragma once
// Linear layers: GEMM on a fixed grid of tiles, each tile one single-threaded oneDNN call, with bias and GELU on the hot tile.

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// y = act(x W^T + bias). x (rows, in), w (out, in), bias (out) or null, y (rows, out).
// pre (rows, out) or null receives x W^T + bias, which the backward pass of GELU needs.
void linear_forward(Exec&, float* y, float* pre, const float* x, const float* w, const float* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation);

// dx = (dy W) * act'(pre). dy (rows, out), w (out, in), dx (rows, in); pre (rows, in) is the pre-activation of the layer
// that made x, null when act is none.
void linear_backward_input(Exec&, float* dx, const float* dy, const float* w, const float* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation);

// dw (out, in) = or += dy^T x; dbias (out) or null = or += column sums of dy.
void linear_backward_weight(Exec&, float* dw, float* dbias, const float* dy, const float* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate);
std::size_t linear_backward_weight_workspace(int threads, std::int64_t rows, std::int64_t in, std::int64_t out);

}  // namespace deft::kernels::cpu
