#include "kernels/cuda/column_sums.h"

#include "kernels/bf16.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// A block sums 32 columns; its 8 warps take every eighth row of a chunk.
constexpr int kCols = 32, kRowLanes = 8, kThreads = kCols * kRowLanes;

// The normalised input of a norm, by which terms may be multiplied; x is null where they are not.
template <class Real>
struct Normalised {
    const Real* x;      // (rows, cols)
    const float* mean;  // (rows) or null: 0
    const float* rstd;  // (rows)
};

// partial (chunks, cols): sums over one chunk of rows of y, or of y n.
template <class Real>
__global__ void column_partials(float* partial, const Real* y, Normalised<Real> n, std::int64_t rows, std::int64_t cols,
                                std::int64_t chunk_rows) {
    const std::int64_t across = ceil_div(cols, kCols), chunk = blockIdx.x / across;
    const int lane = static_cast<int>(threadIdx.x) % kCols, row_lane = static_cast<int>(threadIdx.x) / kCols;
    const std::int64_t col = blockIdx.x % across * kCols + lane;
    const std::int64_t first = chunk * chunk_rows, end = first + chunk_rows < rows ? first + chunk_rows : rows;
    float sum = 0;
    for (std::int64_t row = first + row_lane; col < cols && row < end; row += kRowLanes) {
        const float term = to_float(y[row * cols + col]);
        const float mean = n.mean == nullptr ? 0.0f : n.mean[row];
        sum += n.x == nullptr ? term : term * ((to_float(n.x[row * cols + col]) - mean) * n.rstd[row]);
    }
    DEFT_SHARED(float, sums, kThreads);  // (kRowLanes, kCols)
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (row_lane != 0 || col >= cols) return;
    for (int other = 1; other < kRowLanes; ++other) sum += sums[other * kCols + lane];
    partial[chunk * cols + col] = sum;
}

// sums (cols) = or += partial (chunks, cols), in order of chunk.
__global__ void sum_partials(float* sums, const float* partial, std::int64_t chunks, std::int64_t cols, bool adds) {
    for (std::int64_t col = first_item(); col < cols; col += item_stride()) {
        float sum = 0;
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * cols + col];
        sums[col] = adds ? sums[col] + sum : sum;
    }
}

template <class Real>
void sum_columns(Exec& exec, float* sums, float* partial, const Real* y, Normalised<Real> n, std::int64_t rows,
                 std::int64_t cols, Accumulate accumulate) {
    const std::int64_t chunk_rows = column_chunk_rows(rows), chunks = ceil_div(rows, chunk_rows);
    launch(exec, {"column_partials", chunks * ceil_div(cols, kCols), kThreads}, column_partials<Real>, partial, y, n,
           rows, cols, chunk_rows);
    launch(exec, over_items("sum_partials", cols), sum_partials, sums, partial, chunks, cols,
           accumulate == Accumulate::yes);
}

}  // namespace

template <class Real>
void column_sums(Exec& exec, float* sums, const Real* y, std::int64_t rows, std::int64_t cols, Accumulate accumulate) {
    require_workspace(exec, column_sums_workspace(rows, cols, 1), "column_sums");
    sum_columns(exec, sums, scratch<float>(exec, 0), y, Normalised<Real>{}, rows, cols, accumulate);
}

template <class Real>
void column_sums(Exec& exec, float* sums, float* normalised_sums, const Real* y, const Real* x, const float* mean,
                 const float* rstd, std::int64_t rows, std::int64_t cols, Accumulate accumulate) {
    require_workspace(exec, column_sums_workspace(rows, cols, 2), "column_sums");
    float* partial = scratch<float>(exec, 0);
    float* normalised_partial = scratch<float>(exec, column_sums_workspace(rows, cols, 1));
    if (sums != nullptr) sum_columns(exec, sums, partial, y, Normalised<Real>{}, rows, cols, accumulate);
    sum_columns(exec, normalised_sums, normalised_partial, y, Normalised<Real>{x, mean, rstd}, rows, cols, accumulate);
}

template void column_sums<float>(Exec&, float*, const float*, std::int64_t, std::int64_t, Accumulate);
template void column_sums<bf16>(Exec&, float*, const bf16*, std::int64_t, std::int64_t, Accumulate);
template void column_sums<float>(Exec&, float*, float*, const float*, const float*, const float*, const float*,
                                 std::int64_t, std::int64_t, Accumulate);
template void column_sums<bf16>(Exec&, float*, float*, const bf16*, const bf16*, const float*, const float*,
                                std::int64_t, std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
