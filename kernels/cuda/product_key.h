#pragma once
// Shapes and keys of products from their operands.

#include <cstdint>

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/product_table.h"

namespace deft::kernels::cuda {

// The largest power of two, up to 256, that divides the address; 0 of null.
inline int alignment_of(const void* data) {
    if (data == nullptr) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(data) | 256;
    return static_cast<int>(address & (~address + 1));
}

template <class Out, class A, class B>
ProductShape product_shape(const Operand<A>& a, const Operand<B>& b, std::int64_t m, std::int64_t n, std::int64_t k,
                           Epilogue epilogue = Epilogue::none) {
    return {a.transposed, b.transposed, m, n, k, product_type<A>, product_type<B>, product_type<Out>, epilogue};
}

// Distance between stored rows of an operand (rows, cols) of the product.
template <class Real>
std::int64_t leading_of(const Operand<Real>& operand, std::int64_t rows, std::int64_t cols) {
    return operand.leading != 0 ? operand.leading : operand.transposed ? rows : cols;
}

// bias (n) and pre (m, n): beside the epilogue, or null.
template <class In, class Out>
ProductKey product_key(const Exec& exec, const Out* c, const Operand<In>& a, const Operand<In>& b, std::int64_t m,
                       std::int64_t n, std::int64_t k, std::int64_t ldc, Epilogue epilogue = Epilogue::none,
                       const void* bias = nullptr, const void* pre = nullptr) {
    return {product_shape<Out>(a, b, m, n, k, epilogue),
            leading_of(a, m, k),
            leading_of(b, k, n),
            ldc,
            alignment_of(a.data),
            alignment_of(b.data),
            alignment_of(c),
            alignment_of(bias),
            alignment_of(pre),
            exec.blas_workspace.size()};
}

}  // namespace deft::kernels::cuda
