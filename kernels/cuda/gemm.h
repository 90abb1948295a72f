#pragma once
// Matrix products on the device: the library's where it takes them, and our own kernel's where it does not.

#include <string>

#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// A row-major operand; transposed: the product uses the transpose of what is stored.
template <class Real>
struct Operand {
    const Real* data;
    bool transposed = false;
    std::int64_t leading = 0;  // distance between stored rows; 0: no padding
};

// c (m, n) = a (m, k) b (k, n) + beta c, summed in float; rows of c have the stride ldc, 0: n. In and Out: float, bf16;
// beta: 0 or 1; m, n, k may be 0. Without beta c is not read.
// Instantiated for (float, float), (bf16, bf16) and (bf16, float).
template <class In, class Out>
void gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
          std::int64_t ldc = 0);

// The same by our own kernel on tensor cores, for what the library refuses. False, with nothing done, where it does not
// fit: rows of operands that begin at multiples of 16 bytes, k a multiple of 8 where rows run along it; and not a^T
// b^T. Instantiated for float and bf16.
template <class Out>
bool tensor_gemm(Exec&, Out* c, Operand<bf16> a, Operand<bf16> b, std::int64_t m, std::int64_t n, std::int64_t k,
                 float beta, std::int64_t ldc = 0);

// The same by our own kernel, without tensor cores: for what neither takes.
template <class In, class Out>
void tiled_gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
                std::int64_t ldc = 0);

// tiled_gemm for operands of different types.
template <class A, class B, class Out>
void mixed_gemm(Exec&, Out* c, Operand<A> a, Operand<B> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
                std::int64_t ldc = 0);

// Matrix products of a library, the one place that knows which: cuBLASLt (cublaslt.cu), which may split k with partial
// sums in our own workspace; under the emulator a plain loop (emulator/library_gemm.cpp). Plans choose its algorithm
// (product_plans.h). Every function is false, with nothing done, where the library refuses: it has no algorithm for
// these sizes, strides or alignments, or refused all of them when they were to run.

// As gemm; m, n, k > 0 and ldc >= n.
template <class In, class Out>
bool library_gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k,
                  float beta, std::int64_t ldc);

// y = act(x W^T + bias) in one call; pre as in linear_forward. Here and below: none or gelu_tanh.
template <class Real>
bool library_bias_activation(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                             std::int64_t rows, std::int64_t in, std::int64_t out, Activation);

// dx = (dy W) * act'(pre), likewise.
template <class Real>
bool library_activation_gradient(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                                 std::int64_t in, std::int64_t out, Activation);

// The library of Exec::blas on a device: the handle of cuBLASLt. Included by .cu sources alone.

// For the current device. Errors: device.
void* open_blas_library();
void close_blas_library(void* library);

std::string blas_library_version();  // "13.0.2"

}  // namespace deft::kernels::cuda
