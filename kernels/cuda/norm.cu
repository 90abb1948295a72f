#include "kernels/cuda/cuda.h"

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/held_rows.h"
#include "kernels/cuda/taken_rows.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// The weights of a norm (C), its statistics a row; mean and bias are not there of RMS normalisation.
template <class Real>
struct RowNorm {
    const Real *weight, *bias;
    float *mean, *rstd;
    float eps;
};

// x = stream rows, plus delta (rows, C) unless null, written to taken (rows, C) unless null; y = (x - mean) rstd weight
// + bias, with the biased variance in two passes over registers; or y = x rstd weight, with the mean square.
template <class Real, int kWidth, int kChunks, NormKind kKind>
__global__ void __launch_bounds__(kHoldingThreads, 4)
    normalise_held_rows(Real* y, Real* taken, const Real* stream, const Real* delta, TakenRows rows, RowNorm<Real> norm,
                        RowHolder holder) {
    constexpr bool kIsLayer = kKind == NormKind::layer;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * holder.rows_at_once() + holder.row(), C = rows.C;
    const bool is_there = row < rows.rows;
    const Real* const from = stream + (is_there ? rows.in_stream(row) * C : 0);
    float x[kChunks][kWidth] = {}, sum[1] = {};
    for (int j = 0; j < kChunks; ++j) {
        const std::int64_t c = holder.column<kWidth>(j);
        if (!is_there || c >= C) continue;
        load(x[j], from + c);
        if (delta == nullptr) continue;
        float other[kWidth];
        load(other, delta + row * C + c);
        for (int i = 0; i < kWidth; ++i) x[j][i] = to_float(from_float<Real>(x[j][i] + other[i]));
    }
    for (int j = 0; j < kChunks; ++j) {
        const std::int64_t c = holder.column<kWidth>(j);
        if (is_there && c < C && taken != nullptr) store(taken + row * C + c, x[j]);
        for (int i = 0; i < kWidth; ++i) sum[0] += kIsLayer ? x[j][i] : x[j][i] * x[j][i];
    }
    sum_over_row(sum, holder, 0);
    const float mean = kIsLayer ? sum[0] / static_cast<float>(C) : 0.0f;
    if constexpr (kIsLayer) {
        sum[0] = 0;
        for (int j = 0; j < kChunks; ++j)
            for (int i = 0; holder.column<kWidth>(j) < C && i < kWidth; ++i)
                sum[0] += (x[j][i] - mean) * (x[j][i] - mean);
        sum_over_row(sum, holder, 1);
    }
    if (!is_there) return;
    const float rstd = 1.0f / sqrtf(sum[0] / static_cast<float>(C) + norm.eps);
    for (int j = 0; j < kChunks; ++j) {
        const std::int64_t c = holder.column<kWidth>(j);
        if (c >= C) continue;
        float w[kWidth], b[kWidth] = {};
        load(w, norm.weight + c);
        if (kIsLayer) load(b, norm.bias + c);
        for (int i = 0; i < kWidth; ++i)
            x[j][i] = kIsLayer ? (x[j][i] - mean) * rstd * w[i] + b[i] : x[j][i] * rstd * w[i];
        store(y + row * C + c, x[j]);
    }
    if (holder.thread() != 0) return;
    if (kIsLayer) norm.mean[row] = mean;
    norm.rstd[row] = rstd;
}

// The same for rows that no block holds: a warp reads its row again for each pass.
template <class Real, int kWidth, NormKind kKind>
__global__ void normalise_rows(Real* y, Real* taken, const Real* stream, const Real* delta, TakenRows rows,
                               RowNorm<Real> norm) {
    constexpr bool kIsLayer = kKind == NormKind::layer;
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    const std::int64_t first = warp_lane() * kWidth, stride = kWarpSize * kWidth;
    const Real* x_row = stream + rows.in_stream(row) * C;
    float x[kWidth], other[kWidth], total = 0, squares = 0;
    for (std::int64_t c = first; c < C; c += stride) {
        load(x, x_row + c);
        if (delta != nullptr) {
            load(other, delta + row * C + c);
            for (int i = 0; i < kWidth; ++i) x[i] = to_float(from_float<Real>(x[i] + other[i]));
        }
        if (taken != nullptr) store(taken + row * C + c, x);
        for (int i = 0; i < kWidth; ++i) (kIsLayer ? total : squares) += kIsLayer ? x[i] : x[i] * x[i];
    }
    if (taken != nullptr) x_row = taken + row * C;  // each lane reads what it wrote
    const float mean = kIsLayer ? warp_sum(total) / static_cast<float>(C) : 0.0f;
    for (std::int64_t c = first; kIsLayer && c < C; c += stride) {
        load(x, x_row + c);
        for (int i = 0; i < kWidth; ++i) squares += (x[i] - mean) * (x[i] - mean);
    }
    const float variance = warp_sum(squares) / static_cast<float>(C);
    const float rstd = 1.0f / sqrtf(variance + norm.eps);
    for (std::int64_t c = first; c < C; c += stride) {
        float w[kWidth], b[kWidth] = {};
        load(x, x_row + c);
        load(w, norm.weight + c);
        if (kIsLayer) load(b, norm.bias + c);
        for (int i = 0; i < kWidth; ++i) x[i] = kIsLayer ? (x[i] - mean) * rstd * w[i] + b[i] : x[i] * rstd * w[i];
        store(y + row * C + c, x);
    }
    if (warp_lane() != 0) return;
    if (kIsLayer) norm.mean[row] = mean;
    norm.rstd[row] = rstd;
}

// Stream rows of out = a + delta, both (rows, C), or a alone.
template <class Real, int kWidth>
__global__ void add_rows(Real* out, TakenRows rows, const Real* a, const Real* delta) {
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    Real* out_row = out + rows.in_stream(row) * C;
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float x[kWidth], other[kWidth];
        load(x, a + row * C + c);
        if (delta != nullptr) {
            load(other, delta + row * C + c);
            for (int i = 0; i < kWidth; ++i) x[i] += other[i];
        }
        store(out_row + c, x);
    }
}

// out (rows, C) = rows of the stream.
template <class Real, int kWidth>
__global__ void take_rows(Real* out, const Real* stream, TakenRows rows) {
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    const Real* x_row = stream + rows.in_stream(row) * C;
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float x[kWidth];
        load(x, x_row + c);
        store(out + row * C + c, x);
    }
}

template <class Real, NormKind kKind>
void normalise(Exec& exec, Real* y, Real* taken, const Real* stream, const Real* delta, const TakenRows& rows,
               const RowNorm<Real>& norm) {
    const bool wide = rows_are_wide<Real>(rows.C, y, taken, stream, delta, norm.weight, norm.bias);
    if (with_held_rows<Real>(wide, rows.C, [&](auto width, auto chunks, int warps) {
            launch(exec, {"normalise_held_rows", ceil_div(rows.rows, kRowsOfBlock / warps), kHoldingThreads},
                   normalise_held_rows<Real, width, chunks, kKind>, y, taken, stream, delta, rows, norm,
                   RowHolder{warps});
        }))
        return;
    with_width<Real>(wide, [&](auto width) {
        launch(exec, over_rows("normalise_rows", rows.rows), normalise_rows<Real, width, kKind>, y, taken, stream,
               delta, rows, norm);
    });
}

template <class Real>
void normalise(Exec& exec, Real* y, Real* taken, const Real* stream, const Real* delta, const TakenRows& rows,
               const RowNorm<Real>& norm, NormKind kind) {
    const auto of_kind = kind == NormKind::layer ? normalise<Real, NormKind::layer> : normalise<Real, NormKind::rms>;
    of_kind(exec, y, taken, stream, delta, rows, norm);
}

}  // namespace

template <class Real>
void norm_forward(Exec& exec, Real* y, Real* gathered, float* mean, float* rstd, const Real* stream,
                  const std::int32_t* index, const Real* weight, const Real* bias, std::int64_t B, std::int64_t T,
                  std::int64_t K, std::int64_t C, const NormSpec& spec) {
    const TakenRows rows{index, B * K, T, K, C};
    const RowNorm<Real> norm{weight, bias, mean, rstd, static_cast<float>(spec.eps)};
    normalise<Real>(exec, y, gathered, stream, nullptr, rows, norm, spec.kind);
}

template <class Real>
void residual_norm_forward(Exec& exec, Real* y, Real* sum, float* mean, float* rstd, const Real* a, const Real* delta,
                           const Real* weight, const Real* bias, std::int64_t rows, std::int64_t C,
                           const NormSpec& spec) {
    const TakenRows all{nullptr, rows, 0, 0, C};
    const RowNorm<Real> norm{weight, bias, mean, rstd, static_cast<float>(spec.eps)};
    normalise<Real>(exec, y, sum, a, delta, all, norm, spec.kind);
}

template <class Real>
void residual_forward(Exec& exec, Real* out, const std::int32_t* index, const Real* a, const Real* delta,
                      std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C) {
    const TakenRows rows{index, B * K, T, K, C};
    with_width<Real>(rows_are_wide<Real>(C, out, a, delta), [&](auto width) {
        launch(exec, over_rows("add_rows", rows.rows), add_rows<Real, width>, out, rows, a, delta);
    });
}

template <class Real>
void gather_rows(Exec& exec, Real* out, const Real* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C) {
    const TakenRows rows{index, B * K, T, K, C};
    with_width<Real>(rows_are_wide<Real>(C, out, stream), [&](auto width) {
        launch(exec, over_rows("take_rows", rows.rows), take_rows<Real, width>, out, stream, rows);
    });
}

template void norm_forward<float>(Exec&, float*, float*, float*, float*, const float*, const std::int32_t*,
                                  const float*, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                  const NormSpec&);
template void norm_forward<bf16>(Exec&, bf16*, bf16*, float*, float*, const bf16*, const std::int32_t*, const bf16*,
                                 const bf16*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, const NormSpec&);
template void residual_norm_forward<float>(Exec&, float*, float*, float*, float*, const float*, const float*,
                                           const float*, const float*, std::int64_t, std::int64_t, const NormSpec&);
template void residual_norm_forward<bf16>(Exec&, bf16*, bf16*, float*, float*, const bf16*, const bf16*, const bf16*,
                                          const bf16*, std::int64_t, std::int64_t, const NormSpec&);
template void residual_forward<float>(Exec&, float*, const std::int32_t*, const float*, const float*, std::int64_t,
                                      std::int64_t, std::int64_t, std::int64_t);
template void residual_forward<bf16>(Exec&, bf16*, const std::int32_t*, const bf16*, const bf16*, std::int64_t,
                                     std::int64_t, std::int64_t, std::int64_t);
template void gather_rows<float>(Exec&, float*, const float*, const std::int32_t*, std::int64_t, std::int64_t,
                                 std::int64_t, std::int64_t);
template void gather_rows<bf16>(Exec&, bf16*, const bf16*, const std::int32_t*, std::int64_t, std::int64_t,
                                std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
