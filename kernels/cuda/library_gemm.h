#pragma once
// Matrix products of a library, the one place that knows which: cuBLASLt (cublaslt.cu), which takes its first heuristic
// without split-K; under the emulator a plain loop (emulator/library_gemm.cpp). Every function is false, with nothing
// done, where the library refuses: it has no algorithm for these sizes, strides or alignments.

#include "kernels/cuda/gemm.h"

namespace deft::kernels::cuda {

// As gemm; m, n, k > 0 and ldc >= n.
template <class In, class Out>
bool library_gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k,
                  float beta, std::int64_t ldc);

// y = act(x W^T + bias) in one call; pre as in linear_forward.
template <class Real>
bool library_bias_activation(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                             std::int64_t rows, std::int64_t in, std::int64_t out, Activation);

// dx = (dy W) * act'(pre), likewise.
template <class Real>
bool library_activation_gradient(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                                 std::int64_t in, std::int64_t out, Activation);

}  // namespace deft::kernels::cuda
