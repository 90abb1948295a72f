#pragma once
// Matrix products on the device, the one place that knows which library multiplies: cuBLASLt (gemm.cu), which takes its
// first heuristic without split-K; under the emulator a plain loop (emulator/gemm.cpp).

#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// A row-major operand; transposed: the product uses the transpose of what is stored.
template <class Real>
struct Operand {
    const Real* data;
    bool transposed = false;
    std::int64_t leading = 0;  // distance between stored rows; 0: they stand without padding
};

// c (m, n) = a (m, k) b (k, n) + beta c, summed in float; rows of c stand ldc apart, 0: n. In and Out: float, bf16;
// beta: 0 or 1; m, n, k may be 0.
// Instantiated for (float, float), (bf16, bf16) and (bf16, float).
template <class In, class Out>
void gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
          std::int64_t ldc = 0);

// y = act(x W^T + bias) in one library call; pre as in linear_forward. False, with nothing done, where the library has
// no such call for these sizes.
template <class Real>
bool gemm_bias_activation(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                          std::int64_t in, std::int64_t out, Activation);

// dx = (dy W) * act'(pre), likewise.
template <class Real>
bool gemm_activation_gradient(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                              std::int64_t in, std::int64_t out, Activation);

}  // namespace deft::kernels::cuda
