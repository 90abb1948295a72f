#include "kernels/cuda/gemm.h"

#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// A block makes one tile of c, kTile x kTile, from tiles of a and b that are kDepth deep. Its 256 threads stand as 16 x
// 16; thread (y, x) owns rows y, y + 16, ... and columns x, x + 16, ...
constexpr int kEdge = 16, kThreads = kEdge * kEdge, kItems = 4, kTile = kEdge * kItems, kDepth = 16;

// An element (row, col) stands at data[row * across + col * along], whichever way the operand is stored.
template <class Real>
struct Strided {
    const Real* data;
    std::int64_t rows, cols, across, along;

    Strided(const Operand<Real>& operand, std::int64_t rows_, std::int64_t cols_)
        : data(operand.data), rows(rows_), cols(cols_) {
        const std::int64_t stored_cols = operand.transposed ? rows : cols;
        const std::int64_t leading = operand.leading == 0 ? stored_cols : operand.leading;
        across = operand.transposed ? 1 : leading;
        along = operand.transposed ? leading : 1;
    }
    // Zero past the edges.
    __device__ float at(std::int64_t row, std::int64_t col) const {
        return row < rows && col < cols ? to_float(data[row * across + col * along]) : 0.0f;
    }
};

// c (m, n) = a (m, k) b (k, n), or += where it adds. Each sum runs over k in order.
template <class In, class Out>
__global__ void __launch_bounds__(kThreads)
    multiply_tiles(Out* c, Strided<In> a, Strided<In> b, std::int64_t ldc, bool adds) {
    DEFT_SHARED(float, of_a, kTile*(kDepth + 1));  // (kTile, kDepth), one float more a row: no bank conflicts
    DEFT_SHARED(float, of_b, kDepth* kTile);       // (kDepth, kTile)
    const std::int64_t tiles_across = ceil_div(b.cols, kTile);
    const std::int64_t first_row = blockIdx.x / tiles_across * kTile, first_col = blockIdx.x % tiles_across * kTile;
    const int thread = static_cast<int>(threadIdx.x), y = thread / kEdge, x = thread % kEdge;
    float sum[kItems][kItems] = {};
    for (std::int64_t k0 = 0; k0 < a.cols; k0 += kDepth) {
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            of_a[i / kDepth * (kDepth + 1) + i % kDepth] = a.at(first_row + i / kDepth, k0 + i % kDepth);
            of_b[i] = b.at(k0 + i / kTile, first_col + i % kTile);
        }
        __syncthreads();
        for (int p = 0; p < kDepth; ++p)
            for (int i = 0; i < kItems; ++i)
                for (int j = 0; j < kItems; ++j)
                    sum[i][j] += of_a[(y + i * kEdge) * (kDepth + 1) + p] * of_b[p * kTile + x + j * kEdge];
        __syncthreads();  // the tiles have been read
    }
    for (int i = 0; i < kItems; ++i)
        for (int j = 0; j < kItems; ++j) {
            const std::int64_t row = first_row + y + i * kEdge, col = first_col + x + j * kEdge;
            if (row >= a.rows || col >= b.cols) continue;
            Out& to = c[row * ldc + col];
            to = from_float<Out>(adds ? sum[i][j] + to_float(to) : sum[i][j]);
        }
}

}  // namespace

template <class In, class Out>
void tiled_gemm(Exec& exec, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k,
                float beta, std::int64_t ldc) {
    launch(exec, {"multiply_tiles", ceil_div(m, kTile) * ceil_div(n, kTile), kThreads}, multiply_tiles<In, Out>, c,
           Strided<In>(a, m, k), Strided<In>(b, k, n), ldc == 0 ? n : ldc, beta != 0);
}

template <class In, class Out>
void gemm(Exec& exec, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
          std::int64_t ldc) {
    if (m == 0 || n == 0) return;
    const bool is_empty = k == 0;  // which no library is asked
    if (is_empty || !library_gemm(exec, c, a, b, m, n, k, beta, ldc == 0 ? n : ldc))
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

}  // namespace deft::kernels::cuda
