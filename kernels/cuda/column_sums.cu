#include "kernels/cuda/column_sums.h"

#include <algorithm>

#include "kernels/cuda/float_rows.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kRowLanes = 8, kThreads = kRowLanes * kWarpSize;  // a block's warps take every eighth row of a chunk
constexpr int kAhead = 4;                                       // rows that a warp loads before it adds them

// partial (chunks, cols): sums over one chunk of rows of y. A block sums the columns of 32 vectors.
template <class Real, int kWidth>
__global__ void column_partials(float* partial, const Real* y, std::int64_t rows, std::int64_t cols,
                                std::int64_t chunk_rows) {
    constexpr int kCols = kWarpSize * kWidth;
    const std::int64_t across = ceil_div(cols, kCols), chunk = blockIdx.x / across;
    const int lane = warp_lane(), warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const std::int64_t col = blockIdx.x % across * kCols + lane * kWidth;
    const std::int64_t first = chunk * chunk_rows, end = first + chunk_rows < rows ? first + chunk_rows : rows;
    float sum[kWidth] = {};
    for (std::int64_t row = first + warp; col < cols && row < end; row += kAhead * kRowLanes) {
        Vector<Real, kWidth> ahead[kAhead] = {};
        for (int i = 0; i < kAhead; ++i)
            if (row + i * kRowLanes < end) ahead[i] = load_vector<kWidth>(y + (row + i * kRowLanes) * cols + col);
        for (int i = 0; i < kAhead; ++i)
            for (int j = 0; j < kWidth; ++j) sum[j] += to_float(ahead[i].item[j]);
    }
    DEFT_SHARED(float, sums, kWidth* kThreads);  // (value, warp, lane)
    for (int j = 0; j < kWidth; ++j) sums[j * kThreads + threadIdx.x] = sum[j];
    __syncthreads();
    if (warp != 0) return;
    for (int j = 0; j < kWidth; ++j)
        for (int other = 1; other < kRowLanes; ++other) sum[j] += sums[j * kThreads + other * kWarpSize + lane];
    write_row(partial + chunk * cols, sum, col, cols, false);
}

// A block sums 32 columns of partial (chunks, arrays x cols); its warps, at most kRowLanes, share the chunks.
__global__ void sum_partials(SumArrays sums, const float* partial, std::int64_t chunks, std::int64_t all_cols,
                             bool adds) {
    const int lane = warp_lane(), warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int warps = static_cast<int>(blockDim.x) / kWarpSize;
    const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * kWarpSize + lane;
    float sum = 0;
    for (std::int64_t chunk = warp; col < all_cols && chunk < chunks; chunk += kAhead * warps) {
        float ahead[kAhead] = {};
        for (int i = 0; i < kAhead; ++i)
            if (chunk + i * warps < chunks) ahead[i] = partial[(chunk + i * warps) * all_cols + col];
        for (int i = 0; i < kAhead; ++i) sum += ahead[i];
    }
    DEFT_SHARED(float, of_warps, kThreads);  // (warp, lane)
    of_warps[threadIdx.x] = sum;
    __syncthreads();
    if (warp != 0 || col >= all_cols) return;
    for (int other = 1; other < warps; ++other) sum += of_warps[other * kWarpSize + lane];
    float* const to = col < sums.cols ? sums.array[0] + col : sums.array[1] + (col - sums.cols);
    *to = adds ? *to + sum : sum;
}

}  // namespace

void finish_column_sums(Exec& exec, const SumArrays& sums, const float* partial, std::int64_t chunks,
                        Accumulate accumulate) {
    const std::int64_t cols = sums.count() * sums.cols, warps = std::clamp<std::int64_t>(chunks, 1, kRowLanes);
    launch(exec, {"sum_partials", ceil_div(cols, kWarpSize), static_cast<int>(warps) * kWarpSize}, sum_partials, sums,
           partial, chunks, cols, accumulate == Accumulate::yes);
}

template <class Real>
void column_sums(Exec& exec, float* sums, const Real* y, std::int64_t rows, std::int64_t cols, Accumulate accumulate) {
    require_workspace(exec, column_sums_workspace(rows, cols), "column_sums");
    const std::int64_t chunk_rows = column_chunk_rows(rows), chunks = ceil_div(rows, chunk_rows);
    float* const partial = scratch<float>(exec, 0);
    with_width<Real>(rows_are_wide<Real>(cols, y), [&](auto width) {
        launch(exec, {"column_partials", chunks * ceil_div(cols, width * kWarpSize), kThreads},
               column_partials<Real, width>, partial, y, rows, cols, chunk_rows);
    });
    finish_column_sums(exec, {{sums, nullptr}, cols}, partial, chunks, accumulate);
}

template void column_sums<float>(Exec&, float*, const float*, std::int64_t, std::int64_t, Accumulate);
template void column_sums<bf16>(Exec&, float*, const bf16*, std::int64_t, std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
