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

// x = stream rows, plus delta (rows, C) unless null, written to taken (rows, C) unless null; y = (x - mean) rstd weight
// + bias, with the biased variance in two passes.
template <class Real, int kWidth>
__global__ void normalise_rows(Real* y, Real* taken, float* mean_out, float* rstd_out, const Real* stream,
                               const Real* delta, TakenRows rows, const Real* weight, const Real* bias) {
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    const std::int64_t first = warp_lane() * kWidth, stride = kWarpSize * kWidth;
    const Real* x_row = stream + rows.in_stream(row) * C;
    float x[kWidth], other[kWidth], total = 0;
    for (std::int64_t c = first; c < C; c += stride) {
        load(x, x_row + c);
        if (delta != nullptr) {
            load(other, delta + row * C + c);
            for (int i = 0; i < kWidth; ++i) x[i] = to_float(from_float<Real>(x[i] + other[i]));
        }
        if (taken != nullptr) store(taken + row * C + c, x);
        for (int i = 0; i < kWidth; ++i) total += x[i];
    }
    if (taken != nullptr) x_row = taken + row * C;  // each lane reads what it wrote
    const float mean = warp_sum(total) / static_cast<float>(C);
    float squares = 0;
    for (std::int64_t c = first; c < C; c += stride) {
        load(x, x_row + c);
        for (int i = 0; i < kWidth; ++i) squares += (x[i] - mean) * (x[i] - mean);
    }
    const float variance = warp_sum(squares) / static_cast<float>(C);
    const float rstd = 1.0f / sqrtf(variance + static_cast<float>(kLayerNormEps));
    for (std::int64_t c = first; c < C; c += stride) {
        float w[kWidth], b[kWidth];
        load(x, x_row + c);
        load(w, weight + c);
        load(b, bias + c);
        for (int i = 0; i < kWidth; ++i) x[i] = (x[i] - mean) * rstd * w[i] + b[i];
        store(y + row * C + c, x);
    }
    if (warp_lane() != 0) return;
    mean_out[row] = mean;
    rstd_out[row] = rstd;
}

// Stream rows of out = a + delta, both (rows, C).
template <class Real, int kWidth>
__global__ void add_rows(Real* out, TakenRows rows, const Real* a, const Real* delta) {
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    Real* out_row = out + rows.in_stream(row) * C;
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float x[kWidth], other[kWidth];
        load(x, a + row * C + c);
        load(other, delta + row * C + c);
        for (int i = 0; i < kWidth; ++i) x[i] += other[i];
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

// Stream rows of dx. With n = (x - mean) rstd and g = dy weight: dx = dresidual + rstd (g - mean(g) - n mean(g n)).
template <class Real, int kWidth>
__global__ void normalise_rows_backward(Real* dx, TakenRows rows, const Real* dy, const Real* dresidual, const Real* x,
                                        const float* mean_in, const float* rstd_in, const Real* weight) {
    const std::int64_t row = warp_row(), C = rows.C;
    if (row >= rows.rows) return;
    const std::int64_t first = warp_lane() * kWidth, stride = kWarpSize * kWidth;
    const float mean = mean_in[row], rstd = rstd_in[row];
    const Real *x_row = x + row * C, *dy_row = dy + row * C;
    float n[kWidth], g[kWidth], w[kWidth], g_total = 0, gn_total = 0;
    for (std::int64_t c = first; c < C; c += stride) {
        load(n, x_row + c);
        load(g, dy_row + c);
        load(w, weight + c);
        for (int i = 0; i < kWidth; ++i) {
            g_total += g[i] * w[i];
            gn_total += g[i] * w[i] * ((n[i] - mean) * rstd);
        }
    }
    const float g_mean = warp_sum(g_total) / static_cast<float>(C),
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

}  // namespace

template <class Real>
void layernorm_forward(Exec& exec, Real* y, Real* gathered, float* mean, float* rstd, const Real* stream,
                       const std::int32_t* index, const Real* weight, const Real* bias, std::int64_t B, std::int64_t T,
                       std::int64_t K, std::int64_t C) {
    const TakenRows rows{index, B * K, T, K, C};
    with_width<Real>(rows_are_wide<Real>(C, y, gathered, stream, weight, bias), [&](auto width) {
        launch(exec, over_rows("normalise_rows", rows.rows), normalise_rows<Real, width>, y, gathered, mean, rstd,
               stream, nullptr, rows, weight, bias);
    });
}

template <class Real>
void residual_layernorm_forward(Exec& exec, Real* y, Real* sum, float* mean, float* rstd, const Real* a,
                                const Real* delta, const Real* weight, const Real* bias, std::int64_t rows,
                                std::int64_t C) {
    const TakenRows all{nullptr, rows, 0, 0, C};
    with_width<Real>(rows_are_wide<Real>(C, y, sum, a, delta, weight, bias), [&](auto width) {
        launch(exec, over_rows("normalise_rows", rows), normalise_rows<Real, width>, y, sum, mean, rstd, a, delta, all,
               weight, bias);
    });
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
void layernorm_backward(Exec& exec, Real* dx, const std::int32_t* index, float* dweight, float* dbias, const Real* dy,
                        const Real* dresidual, const Real* x, const float* mean, const float* rstd, const Real* weight,
                        std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate accumulate) {
    const TakenRows rows{index, B * K, T, K, C};
    column_sums(exec, dbias, dweight, dy, x, mean, rstd, rows.rows, C, accumulate);
    with_width<Real>(rows_are_wide<Real>(C, dx, dy, dresidual, x, weight), [&](auto width) {
        launch(exec, over_rows("normalise_rows_backward", rows.rows), normalise_rows_backward<Real, width>, dx, rows,
               dy, dresidual, x, mean, rstd, weight);
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

template void layernorm_forward<float>(Exec&, float*, float*, float*, float*, const float*, const std::int32_t*,
                                       const float*, const float*, std::int64_t, std::int64_t, std::int64_t,
                                       std::int64_t);
template void layernorm_forward<bf16>(Exec&, bf16*, bf16*, float*, float*, const bf16*, const std::int32_t*,
                                      const bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template void residual_layernorm_forward<float>(Exec&, float*, float*, float*, float*, const float*, const float*,
                                                const float*, const float*, std::int64_t, std::int64_t);
template void residual_layernorm_forward<bf16>(Exec&, bf16*, bf16*, float*, float*, const bf16*, const bf16*,
                                               const bf16*, const bf16*, std::int64_t, std::int64_t);
template void residual_forward<float>(Exec&, float*, const std::int32_t*, const float*, const float*, std::int64_t,
                                      std::int64_t, std::int64_t, std::int64_t);
template void residual_forward<bf16>(Exec&, bf16*, const std::int32_t*, const bf16*, const bf16*, std::int64_t,
                                     std::int64_t, std::int64_t, std::int64_t);
template void layernorm_backward<float>(Exec&, float*, const std::int32_t*, float*, float*, const float*, const float*,
                                        const float*, const float*, const float*, const float*, std::int64_t,
                                        std::int64_t, std::int64_t, std::int64_t, Accumulate);
template void layernorm_backward<bf16>(Exec&, bf16*, const std::int32_t*, float*, float*, const bf16*, const bf16*,
                                       const bf16*, const float*, const float*, const bf16*, std::int64_t, std::int64_t,
                                       std::int64_t, std::int64_t, Accumulate);
template void gather_rows<float>(Exec&, float*, const float*, const std::int32_t*, std::int64_t, std::int64_t,
                                 std::int64_t, std::int64_t);
template void gather_rows<bf16>(Exec&, bf16*, const bf16*, const std::int32_t*, std::int64_t, std::int64_t,
                                std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
