#include "kernels/cuda/gemm.h"

#include <type_traits>

#include "kernels/cuda/gemm_tiles.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/product_key.h"
#include "kernels/cuda/products.h"

namespace deft::kernels::cuda {

namespace {

// A block makes one tile of c (m, n) = a (m, k) b (k, n), or += where it adds.
template <class A, class B, class Out>
__global__ void __launch_bounds__(kGemmThreads)
    multiply_tiles(Out* c, Strided<A> a, Strided<B> b, std::int64_t ldc, bool adds) {
    const std::int64_t across = ceil_div(b.cols, kGemmTile);
    multiply_tile(a, b, blockIdx.x / across * kGemmTile, blockIdx.x % across * kGemmTile,
                  [=](std::int64_t row, std::int64_t col, float sum) {
                      Out& to = c[row * ldc + col];
                      to = from_float<Out>(adds ? sum + to_float(to) : sum);
                  });
}

}  // namespace

template <class A, class B, class Out>
void mixed_gemm(Exec& exec, Out* c, Operand<A> a, Operand<B> b, std::int64_t m, std::int64_t n, std::int64_t k,
                float beta, std::int64_t ldc) {
    record_product(exec, product_shape<Out>(a, b, m, n, k), ProductPath::tiles);
    launch(exec, {"multiply_tiles", ceil_div(m, kGemmTile) * ceil_div(n, kGemmTile), kGemmThreads},
           multiply_tiles<A, B, Out>, c, strided(a, m, k), strided(b, k, n), ldc == 0 ? n : ldc, beta != 0);
}

template <class In, class Out>
void tiled_gemm(Exec& exec, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k,
                float beta, std::int64_t ldc) {
    mixed_gemm(exec, c, a, b, m, n, k, beta, ldc);
}

template <class In, class Out>
void gemm(Exec& exec, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
          std::int64_t ldc) {
    if (m == 0 || n == 0) return;
    const bool is_empty = k == 0;  // which no library is asked
    if (!is_empty && library_gemm(exec, c, a, b, m, n, k, beta, ldc == 0 ? n : ldc)) return;
    if constexpr (std::is_same_v<In, bf16>)
        if (!is_empty && tensor_gemm(exec, c, a, b, m, n, k, beta, ldc)) return;
    tiled_gemm(exec, c, a, b, m, n, k, beta, ldc);
}

template void gemm<float, float>(Exec&, float*, Operand<float>, Operand<float>, std::int64_t, std::int64_t,
                                 std::int64_t, float, std::int64_t);
template void gemm<bf16, bf16>(Exec&, bf16*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t, std::int64_t,
                               float, std::int64_t);
template void gemm<bf16, float>(Exec&, float*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t, std::int64_t,
                                float, std::int64_t);
template void tiled_gemm<float, float>(Exec&, float*, Operand<float>, Operand<float>, std::int64_t, std::int64_t,
                                       std::int64_t, float, std::int64_t);
template void tiled_gemm<bf16, bf16>(Exec&, bf16*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t,
                                     std::int64_t, float, std::int64_t);
template void tiled_gemm<bf16, float>(Exec&, float*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t,
                                      std::int64_t, float, std::int64_t);
template void mixed_gemm<bf16, float, float>(Exec&, float*, Operand<bf16>, Operand<float>, std::int64_t, std::int64_t,
                                             std::int64_t, float, std::int64_t);
template void mixed_gemm<float, float, bf16>(Exec&, bf16*, Operand<float>, Operand<float>, std::int64_t, std::int64_t,
                                             std::int64_t, float, std::int64_t);
template void mixed_gemm<float, bf16, float>(Exec&, float*, Operand<float>, Operand<bf16>, std::int64_t, std::int64_t,
                                             std::int64_t, float, std::int64_t);

}  // namespace deft::kernels::cuda
