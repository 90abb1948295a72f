#include "kernels/cuda/cuda.h"
#include "kernels/cuda/float_rows.h"
#include "kernels/cuda/held_rows.h"
#include "kernels/cuda/last_block.h"
#include "kernels/cuda/taken_rows.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// With n = (x - mean) rstd and g = dy weight: dx = dresidual + rstd (g - mean(g) - n mean(g n)), dweight = sum of dy n,
// dbias = sum of dy. RMS normalisation has no mean, no mean(g) and no dbias.
template <class Real>
struct BackwardRows {
    Real* dx;                        // rows of the stream
    const Real *dy, *dresidual, *x;  // (rows, C); dresidual may be null
    const float *mean, *rstd;        // (rows)
    const Real* weight;              // (C)
    TakenRows rows;
    std::int64_t chunk_rows;  // a block
    ChunkSums sums;           // partial (chunks, sums, C): dweight, then dbias
};

template <NormKind kKind>
inline constexpr int kSums = kKind == NormKind::layer ? 2 : 1;

// Partial sums that a thread loads at once, where it loads kWidth activations.
template <int kWidth>
inline constexpr int kAtOnce = kWidth < kWide<float> ? kWidth : kWide<float>;

// out (C) = the sums over the rows that a block holds at once, in order; value: for the columns from c on.
template <int kWidth>
__device__ inline void sum_over_rows(float* out, const float (&value)[kWidth], RowHolder holder, std::int64_t c,
                                     std::int64_t C) {
    DEFT_SHARED(float, values, kWidth* kHoldingThreads);  // (value, thread)
    float sum[kWidth];
    __syncthreads();  // an earlier sum has been read
    for (int i = 0; i < kWidth; ++i) values[i * kHoldingThreads + threadIdx.x] = value[i];
    __syncthreads();
    if (holder.row() != 0) return;
    for (int i = 0; i < kWidth; ++i) {
        sum[i] = 0;
        for (int thread = holder.thread(); thread < kHoldingThreads; thread += holder.warps * kWarpSize)
            sum[i] += values[i * kHoldingThreads + thread];
    }
    write_row(out, sum, c, C, false);
}

// A block takes chunk_rows rows. Two blocks share a multiprocessor, which bounds the registers.
template <class Real, int kWidth, int kChunks, NormKind kKind>
__global__ void __launch_bounds__(kHoldingThreads, 2) norm_held_rows_backward(BackwardRows<Real> b, RowHolder holder) {
    using Values = Vector<Real, kWidth>;
    constexpr bool kIsLayer = kKind == NormKind::layer;
    const std::int64_t C = b.rows.C, first = blockIdx.x * b.chunk_rows;
    const std::int64_t end = first + b.chunk_rows < b.rows.rows ? first + b.chunk_rows : b.rows.rows;
    const auto column = [&](int j) { return holder.column<kWidth>(j); };
    Values weight[kChunks] = {};
    for (int j = 0; j < kChunks; ++j)
        if (column(j) < C) weight[j] = load_vector<kWidth>(b.weight + column(j));
    float dweight[kChunks][kWidth] = {}, dbias[kChunks][kWidth] = {};
    std::int64_t turn = 0;
    for (std::int64_t at = first; at < end; at += holder.rows_at_once(), ++turn) {
        const std::int64_t row = at + holder.row();
        const bool is_there = row < end;
        Values x[kChunks] = {}, dy[kChunks] = {}, dresidual[kChunks] = {};
        for (int j = 0; j < kChunks; ++j) {
            if (!is_there || column(j) >= C) continue;
            x[j] = load_vector<kWidth>(b.x + row * C + column(j));
            dy[j] = load_vector<kWidth>(b.dy + row * C + column(j));
            if (b.dresidual != nullptr) dresidual[j] = load_vector<kWidth>(b.dresidual + row * C + column(j));
        }
        const float mean = kIsLayer && is_there ? b.mean[row] : 0.0f, rstd = is_there ? b.rstd[row] : 0.0f;
        float sum[kSums<kKind>] = {};  // of g n, and of g
        for (int j = 0; j < kChunks; ++j)
            for (int i = 0; i < kWidth; ++i) {
                const float d = to_float(dy[j].item[i]), n = (to_float(x[j].item[i]) - mean) * rstd;
                const float g = d * to_float(weight[j].item[i]);
                sum[0] += g * n;
                dweight[j][i] += d * n;
                if constexpr (kIsLayer) {
                    sum[1] += g;
                    dbias[j][i] += d;
                }
            }
        sum_over_row(sum, holder, turn);
        const float gn_mean = sum[0] / static_cast<float>(C);
        const float g_mean = kIsLayer ? sum[kSums<kKind> - 1] / static_cast<float>(C) : 0.0f;
        if (!is_there) continue;
        Real* const dx = b.dx + b.rows.in_stream(row) * C;
        for (int j = 0; j < kChunks; ++j) {
            if (column(j) >= C) continue;
            float out[kWidth];
            for (int i = 0; i < kWidth; ++i) {
                const float g = to_float(dy[j].item[i]) * to_float(weight[j].item[i]);
                const float n = (to_float(x[j].item[i]) - mean) * rstd;
                out[i] = to_float(dresidual[j].item[i]) + rstd * (g - g_mean - n * gn_mean);
            }
            store(dx + column(j), out);
        }
    }
    float* const partial = b.sums.partial + blockIdx.x * kSums<kKind> * C;
    for (int j = 0; j < kChunks; ++j) {
        sum_over_rows(partial, dweight[j], holder, column(j), C);
        if constexpr (kIsLayer) sum_over_rows(partial + C, dbias[j], holder, column(j), C);
    }
    finish_chunk_sums<kAtOnce<kWidth>>(b.sums, blockIdx.x, 0, kSums<kKind> * C);
}

// The same for rows that no block holds: a block reads each of its rows twice, and adds to its partial sums in memory.
template <class Real, int kWidth, NormKind kKind>
__global__ void norm_rows_backward(BackwardRows<Real> b) {
    constexpr bool kIsLayer = kKind == NormKind::layer;
    const std::int64_t C = b.rows.C, first = blockIdx.x * b.chunk_rows;
    const std::int64_t end = first + b.chunk_rows < b.rows.rows ? first + b.chunk_rows : b.rows.rows;
    const RowHolder holder{kRowsOfBlock};
    const std::int64_t first_column = holder.column<kWidth>(0), stride = kHoldingThreads * kWidth;
    float* const dweight = b.sums.partial + blockIdx.x * kSums<kKind> * C;
    float* const dbias = dweight + C;
    // A block without rows.
    for (std::int64_t c = first_column; first >= end && c < C; c += stride) {
        constexpr float kZeros[kWidth] = {};
        store(dweight + c, kZeros);
        if (kIsLayer) store(dbias + c, kZeros);
    }
    for (std::int64_t row = first; row < end; ++row) {
        const float mean = kIsLayer ? b.mean[row] : 0.0f, rstd = b.rstd[row];
        float x[kWidth], dy[kWidth], w[kWidth], sum[2] = {};  // of g n, and of g
        for (std::int64_t c = first_column; c < C; c += stride) {
            load(x, b.x + row * C + c);
            load(dy, b.dy + row * C + c);
            load(w, b.weight + c);
            for (int i = 0; i < kWidth; ++i) {
                sum[0] += dy[i] * w[i] * ((x[i] - mean) * rstd);
                if (kIsLayer) sum[1] += dy[i] * w[i];
            }
        }
        sum_over_row(sum, holder, row);
        const float gn_mean = sum[0] / static_cast<float>(C), g_mean = sum[1] / static_cast<float>(C);
        Real* const dx = b.dx + b.rows.in_stream(row) * C;
        for (std::int64_t c = first_column; c < C; c += stride) {
            float dresidual[kWidth] = {}, dw[kWidth] = {}, db[kWidth] = {};
            load(x, b.x + row * C + c);
            load(dy, b.dy + row * C + c);
            load(w, b.weight + c);
            if (b.dresidual != nullptr) load(dresidual, b.dresidual + row * C + c);
            if (row != first) load(dw, dweight + c);
            if (kIsLayer && row != first) load(db, dbias + c);
            for (int i = 0; i < kWidth; ++i) {
                const float n = (x[i] - mean) * rstd;
                dresidual[i] += rstd * (dy[i] * w[i] - g_mean - n * gn_mean);
                dw[i] += dy[i] * n;
                db[i] += dy[i];
            }
            store(dx + c, dresidual);
            store(dweight + c, dw);
            if (kIsLayer) store(dbias + c, db);
        }
    }
    finish_chunk_sums<kAtOnce<kWidth>>(b.sums, blockIdx.x, 0, kSums<kKind> * C);
}

template <class Real, NormKind kKind>
void run_backward(Exec& exec, const BackwardRows<Real>& b, std::int64_t chunks) {
    const std::int64_t C = b.rows.C;
    const bool wide = rows_are_wide<Real>(C, b.dx, b.dy, b.dresidual, b.x, b.weight);
    if (with_held_rows<Real>(wide, C, [&](auto width, auto held, int warps) {
            launch(exec, {"norm_held_rows_backward", chunks, kHoldingThreads},
                   norm_held_rows_backward<Real, width, held, kKind>, b, RowHolder{warps});
        }))
        return;
    with_width<Real>(wide, [&](auto width) {
        launch(exec, {"norm_rows_backward", chunks, kHoldingThreads}, norm_rows_backward<Real, width, kKind>, b);
    });
}

}  // namespace

template <class Real>
void norm_backward(Exec& exec, Real* dx, const std::int32_t* index, float* dweight, float* dbias, const Real* dy,
                   const Real* dresidual, const Real* x, const float* mean, const float* rstd, const Real* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate accumulate,
                   const NormSpec& spec) {
    const TakenRows rows{index, B * K, T, K, C};
    require_workspace(exec, norm_backward_workspace(rows.rows, C), "norm_backward");
    const bool is_layer = spec.kind == NormKind::layer;
    const std::int64_t chunk_rows = norm_chunk_rows(rows.rows),
                       chunks = std::max<std::int64_t>(1, ceil_div(rows.rows, chunk_rows));
    require_counters(exec, kCountersOfSums, "norm_backward");
    const ChunkSums sums{
        {dweight, is_layer ? dbias : nullptr}, C, scratch<float>(exec, 0), chunks, exec.counters.data(),
        accumulate == Accumulate::yes};
    const BackwardRows<Real> b{dx, dy, dresidual, x, mean, rstd, weight, rows, chunk_rows, sums};
    const auto run = is_layer ? run_backward<Real, NormKind::layer> : run_backward<Real, NormKind::rms>;
    run(exec, b, chunks);
}

template void norm_backward<float>(Exec&, float*, const std::int32_t*, float*, float*, const float*, const float*,
                                   const float*, const float*, const float*, const float*, std::int64_t, std::int64_t,
                                   std::int64_t, std::int64_t, Accumulate, const NormSpec&);
template void norm_backward<bf16>(Exec&, bf16*, const std::int32_t*, float*, float*, const bf16*, const bf16*,
                                  const bf16*, const float*, const float*, const bf16*, std::int64_t, std::int64_t,
                                  std::int64_t, std::int64_t, Accumulate, const NormSpec&);

}  // namespace deft::kernels::cuda
