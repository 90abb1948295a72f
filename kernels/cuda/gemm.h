#pragma once
// Matrix products on the device: the library's where it takes them, and our own kernel's where it does not.

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
// beta: 0 or 1; m, n, k may be 0. Without beta c is not read.
// Instantiated for (float, float), (bf16, bf16) and (bf16, float).
template <class In, class Out>
void gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
          std::int64_t ldc = 0);

// The same by our own kernel, without tensor cores: for what the library refuses.
template <class In, class Out>
void tiled_gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
                std::int64_t ldc = 0);

}  // namespace deft::kernels::cuda
