#include "kernels/cuda/column_sums.h"

#include <algorithm>

#include "kernels/cuda/float_rows.h"
#include "kernels/cuda/last_block.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kRowLanes = 8, kThreads = kRowLanes * kWarpSize;  // a block's warps take every eighth row of a chunk
constexpr int kAhead = 4;                                       // rows that a warp loads before it adds them

// A block sums the columns of 32 vectors over one chunk of rows of y (rows, sums.cols). The grid covers `across` such
// tiles of columns, from first_tile on.
template <class Real, int kWidth>
__global__ void sum_columns(ChunkSums sums, const Real* y, std::int64_t rows, std::int64_t chunk_rows,
                            std::int64_t across, std::int64_t first_tile) {
    constexpr int kCols = kWarpSize * kWidth;
    const std::int64_t cols = sums.cols, chunk = blockIdx.x / across, tile = blockIdx.x % across;
    const int lane = warp_lane(), warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const std::int64_t first_col = (first_tile + tile) * kCols, col = first_col + lane * kWidth;
    const std::int64_t first = chunk * chunk_rows, end = first + chunk_rows < rows ? first + chunk_rows : rows;
    float sum[kWidth] = {};
    for (std::int64_t row = first + warp; col < cols && row < end; row += kAhead * kRowLanes) {
        Vector<Real, kWidth> ahead[kAhead] = {};
        for (int i = 0; i < kAhead; ++i)
            if (row + i * kRowLanes < end) ahead[i] = load_vector<kWidth>(y + (row + i * kRowLanes) * cols + col);
        for (int i = 0; i < kAhead; ++i)
            for (int j = 0; j < kWidth; ++j) sum[j] += to_float(ahead[i].item[j]);
    }
    DEFT_SHARED(float, of_warps, kWidth* kThreads);  // (value, warp, lane)
    for (int j = 0; j < kWidth; ++j) of_warps[j * kThreads + threadIdx.x] = sum[j];
    __syncthreads();
    if (warp == 0) {
        for (int j = 0; j < kWidth; ++j)
            for (int other = 1; other < kRowLanes; ++other) sum[j] += of_warps[j * kThreads + other * kWarpSize + lane];
        write_row(sums.partial + chunk * cols, sum, col, cols, false);
    }
    sums.counters += tile * kCountersOfSums;
    finish_chunk_sums<1>(sums, chunk, first_col, first_col + kCols < cols ? first_col + kCols : cols);
}

}  // namespace

template <class Real>
void column_sums(Exec& exec, float* sums, const Real* y, std::int64_t rows, std::int64_t cols, Accumulate accumulate) {
    require_workspace(exec, column_sums_workspace(rows, cols), "column_sums");
    const std::int64_t chunk_rows = column_chunk_rows(rows),
                       chunks = std::max<std::int64_t>(1, ceil_div(rows, chunk_rows));
    const ChunkSums to{
        {sums, nullptr}, cols, scratch<float>(exec, 0), chunks, exec.counters.data(), accumulate == Accumulate::yes};
    require_counters(exec, kCountersOfSums, "column_sums");
    const std::int64_t most_across = static_cast<std::int64_t>(exec.counters.size()) / kCountersOfSums;
    with_width<Real>(rows_are_wide<Real>(cols, y), [&](auto width) {
        const std::int64_t tiles = ceil_div(cols, width * kWarpSize);
        for (std::int64_t first = 0; first < tiles; first += most_across) {
            const std::int64_t across = std::min(most_across, tiles - first);
            launch(exec, {"sum_columns", chunks * across, kThreads}, sum_columns<Real, width>, to, y, rows, chunk_rows,
                   across, first);
        }
    });
}

template void column_sums<float>(Exec&, float*, const float*, std::int64_t, std::int64_t, Accumulate);
template void column_sums<bf16>(Exec&, float*, const bf16*, std::int64_t, std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
