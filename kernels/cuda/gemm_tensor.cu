#include "kernels/cuda/gemm.h"

#include <type_traits>

#include "kernels/cuda/gemm_tensor_tiles.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/product_key.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// c (m, n) = or += a b. Rows of c are ldc apart; two neighbours are moved at once where `pairs`.
template <Along kAlongOfA, Along kAlongOfB, class Out>
__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    multiply_on_tensor_cores(Out* c, TensorOperand a, TensorOperand b, std::int64_t ldc, bool adds, bool pairs) {
    const std::int32_t across = (b.results + kTensorTile - 1) / kTensorTile,
                       block = static_cast<std::int32_t>(blockIdx.x);
    multiply_tile_on_tensor_cores<kAlongOfA, kAlongOfB>(
        a, b, block / across * kTensorTile, block % across * kTensorTile,
        [=](std::int32_t row, std::int32_t column, float sum, float next) {
            Out* const to = c + row * ldc + column;
            float value[2] = {sum, next};
            if (pairs) {
                float before[2];
                if (adds) load(before, to);
                for (int i = 0; i < 2; ++i) value[i] = adds ? value[i] + before[i] : value[i];
                store(to, value);
            } else {
                for (int i = 0; i < 2 && column + i < b.results; ++i)
                    to[i] = from_float<Out>(adds ? value[i] + to_float(to[i]) : value[i]);
            }
        });
}

// Whether stored rows can be moved 16 bytes at a time, with 32-bit offsets in a tile.
bool is_movable(const Operand<bf16>& x, std::int64_t leading) {
    return leading % kPiece == 0 && leading < kMostRowStride && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

}  // namespace

template <class Out>
bool tensor_gemm(Exec& exec, Out* c, Operand<bf16> a, Operand<bf16> b, std::int64_t m, std::int64_t n, std::int64_t k,
                 float beta, std::int64_t ldc) {
    constexpr std::int64_t kMost = 1 << 30;
    const bool a_along_k = !a.transposed, b_along_k = b.transposed;
    const std::int64_t lda = a.leading != 0 ? a.leading
                             : a_along_k    ? k
                                            : m,
                       ldb = b.leading != 0 ? b.leading
                             : b_along_k    ? k
                                            : n;
    if (!is_movable(a, lda) || !is_movable(b, ldb) || m >= kMost || n >= kMost || k >= kMost) return false;
    if ((a_along_k || b_along_k) && k % kPiece != 0) return false;
    if (!a_along_k && b_along_k) return false;  // no layer multiplies so
    const auto narrow = [](std::int64_t count) { return static_cast<std::int32_t>(count); };
    record_product(exec, product_shape<Out>(a, b, m, n, k), ProductPath::tensor_cores);
    const TensorOperand left{a.data, narrow(lda), narrow(m), narrow(k)},
        right{b.data, narrow(ldb), narrow(n), narrow(k)};
    const std::int64_t row_stride = ldc == 0 ? n : ldc;
    const bool pairs =
        n % 2 == 0 && row_stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % (2 * sizeof(Out)) == 0;
    const Launch shape{"multiply_on_tensor_cores", ceil_div(m, kTensorTile) * ceil_div(n, kTensorTile), kTensorThreads,
                       kTensorShared};
    const auto run = [&](auto kernel) { launch(exec, shape, kernel, c, left, right, row_stride, beta != 0, pairs); };
    if (b_along_k)
        run(multiply_on_tensor_cores<Along::k, Along::k, Out>);
    else if (a_along_k)
        run(multiply_on_tensor_cores<Along::k, Along::result, Out>);
    else
        run(multiply_on_tensor_cores<Along::result, Along::result, Out>);
    return true;
}

template bool tensor_gemm<bf16>(Exec&, bf16*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t, std::int64_t,
                                float, std::int64_t);
template bool tensor_gemm<float>(Exec&, float*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t, std::int64_t,
                                 float, std::int64_t);

}  // namespace deft::kernels::cuda
