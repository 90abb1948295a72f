#include "kernels/cuda/cuda.h"

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// Rows (B, K) taken from a stream (B, T, C).
struct TakenRows {
    const std::int32_t* index;  // (B, K) or null
    std::int64_t rows, T, K, C;

    // The row of the stream that row `i` of (B, K) stands for.
    __device__ std::int64_t in_stream(std::int64_t i) const { return index == nullptr ? i : i / K * T + index[i]; }
};

// The weights of a norm (C), its statistics a row; mean and bias are not there of RMS normalisation.
template <class Real>
struct RowNorm {
    const Real *weight, *bias;
    float *mean, *rstd;
    float eps;
};

// x = stream rows, plus delta (rows, C) unless null, written to taken (rows, C) unless null; y = (x - mean) rstd weight
// + bias, with the biased variance in two passes; or y = x rstd weight, with the mean square in one.
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

// Stream rows of dx. With n = (x - mean) rstd and g = dy weight: dx = dresidual + rstd (g - mean(g) - n mean(g n)). Of
// RMS normalisation, which has no mean, without mean(g).
template <class Real, int kWidth, NormKind kKind>
__global__ void normalise_rows_backward(Real* dx, TakenRows rows, const Real* dy, const Real* dresidual, const Real* x,
                                        const float* mean_in, const float* rstd_in, const Real* weight) {
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    const std::int64_t first = warp_lane() * kWidth, stride = kWarpSize * kWidth;
    constexpr bool kIsLayer = kKind == NormKind::layer;
    const float mean = kIsLayer ? mean_in[row] : 0.0f, rstd = rstd_in[row];
    const Real *x_row = x + row * C, *dy_row = dy + row * C;
    float n[kWidth], g[kWidth], w[kWidth], g_total = 0, gn_total = 0;
    for (std::int64_t c = first; c < C; c += stride) {
        load(n, x_row + c);
        load(g, dy_row + c);
        load(w, weight + c);
        for (int i = 0; i < kWidth; ++i) {
            if (kIsLayer) g_total += g[i] * w[i];
            gn_total += g[i] * w[i] * ((n[i] - mean) * rstd);
        }
    }
    const float g_mean = kIsLayer ? warp_sum(g_total) / static_cast<float>(C) : 0.0f,
                gn_mean = warp_sum(gn_total) / static_cast<float>(C);
    Real* dx_row = dx + rows.in_stream(row) * C;
    for (std::int64_t c = first; c < C; c += stride) {
        float residual[kWidth] = {};
        load(n, x_row + c);
        load(g, dy_row + c);
        load(w, weight + c);
        if (dresidual != nullptr) load(residual, dresidual + row * C + c);
        for (int i = 0; i < kWidth; ++i) residual[i] += rstd * (g[i] * w[i] - g_mean - (n[i] - mean) * rstd * gn_mean);
        store(dx_row + c, residual);
    }
}

// f(width, kind), both constants.
template <class Real, class F>
void with_width_and_kind(bool wide, NormKind kind, const F& f) {
    with_width<Real>(wide, [&](auto width) {
        if (kind == NormKind::layer)
            f(width, std::integral_constant<NormKind, NormKind::layer>{});
        else
            f(width, std::integral_constant<NormKind, NormKind::rms>{});
    });
}

template <class Real>
void normalise(Exec& exec, Real* y, Real* taken, const Real* stream, const Real* delta, const TakenRows& rows,
               const RowNorm<Real>& norm, NormKind kind) {
    const bool wide = rows_are_wide<Real>(rows.C, y, taken, stream, delta, norm.weight, norm.bias);
    with_width_and_kind<Real>(wide, kind, [&](auto width, auto known_kind) {
        launch(exec, over_rows("normalise_rows", rows.rows), normalise_rows<Real, width, known_kind>, y, taken, stream,
               delta, rows, norm);
    });
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
void norm_backward(Exec& exec, Real* dx, const std::int32_t* index, float* dweight, float* dbias, const Real* dy,
                   const Real* dresidual, const Real* x, const float* mean, const float* rstd, const Real* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate accumulate,
                   const NormSpec& spec) {
    const TakenRows rows{index, B * K, T, K, C};
    const bool is_layer = spec.kind == NormKind::layer;
    column_sums(exec, is_layer ? dbias : nullptr, dweight, dy, x, is_layer ? mean : nullptr, rstd, rows.rows, C,
                accumulate);
    const bool wide = rows_are_wide<Real>(C, dx, dy, dresidual, x, weight);
    with_width_and_kind<Real>(wide, spec.kind, [&](auto width, auto kind) {
        launch(exec, over_rows("normalise_rows_backward", rows.rows), normalise_rows_backward<Real, width, kind>, dx,
               rows, dy, dresidual, x, mean, rstd, weight);
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
template void norm_backward<float>(Exec&, float*, const std::int32_t*, float*, float*, const float*, const float*,
                                   const float*, const float*, const float*, const float*, std::int64_t, std::int64_t,
                                   std::int64_t, std::int64_t, Accumulate, const NormSpec&);
template void norm_backward<bf16>(Exec&, bf16*, const std::int32_t*, float*, float*, const bf16*, const bf16*,
                                  const bf16*, const float*, const float*, const bf16*, std::int64_t, std::int64_t,
                                  std::int64_t, std::int64_t, Accumulate, const NormSpec&);
template void gather_rows<float>(Exec&, float*, const float*, const std::int32_t*, std::int64_t, std::int64_t,
                                 std::int64_t, std::int64_t);
template void gather_rows<bf16>(Exec&, bf16*, const bf16*, const std::int32_t*, std::int64_t, std::int64_t,
                                std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
