#include "kernels/cpu/cpu.h"

#include <cmath>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kRowBlock = 16;  // rows a work item
constexpr std::int64_t kMaxPartials = 64;

// The row of the stream (B, T, C) that corresponds to row `i` of (B, K, C).
std::int64_t stream_row(const std::int32_t* index, std::int64_t i, std::int64_t T, std::int64_t K) {
    return index == nullptr ? i : i / K * T + index[i];
}

// body(row) for all rows, in blocks.
template <class Body>
void parallel_rows(int threads, std::int64_t rows, const Body& body) {
    parallel_items(threads, ceil_div(rows, kRowBlock), [&](std::int64_t block, int) {
        const std::int64_t end = std::min(rows, (block + 1) * kRowBlock);
        widest_vectors([&] {
            for (std::int64_t row = block * kRowBlock; row < end; ++row) body(row);
        });
    });
}

// The weights of a norm, and how it normalises; bias is null of RMS normalisation.
struct RowNorm {
    const float *weight, *bias;  // (C)
    NormKind kind;
    float eps;

    RowNorm(const float* weight_, const float* bias_, const NormSpec& spec)
        : weight(weight_), bias(bias_), kind(spec.kind), eps(static_cast<float>(spec.eps)) {}
};

// One row of y = (x - mean) / sqrt(var + eps) * weight + bias, with the biased variance in two passes.
void layer_normalise_row(float* y, float& mean_out, float& rstd_out, const float* x, const RowNorm& norm,
                         std::int64_t C) {
    const float mean = sum_of(C, [&](std::int64_t i) { return x[i]; }) / static_cast<float>(C);
    const float squares = sum_of(C, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
    const float rstd = 1.0f / std::sqrt(squares / static_cast<float>(C) + norm.eps);
    const float *weight = norm.weight, *bias = norm.bias;
#pragma omp simd
    for (std::int64_t i = 0; i < C; ++i) y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
    mean_out = mean;
    rstd_out = rstd;
}

// One row of y = x / sqrt(mean(x^2) + eps) * weight.
void rms_normalise_row(float* y, float& rstd_out, const float* x, const RowNorm& norm, std::int64_t C) {
    const float squares = sum_of(C, [&](std::int64_t i) { return x[i] * x[i]; });
    const float rstd = 1.0f / std::sqrt(squares / static_cast<float>(C) + norm.eps);
    const float* weight = norm.weight;
#pragma omp simd
    for (std::int64_t i = 0; i < C; ++i) y[i] = x[i] * rstd * weight[i];
    rstd_out = rstd;
}

// Row `row` of y, mean and rstd from x (C).
void normalise_row(float* y, float* mean, float* rstd, std::int64_t row, const float* x, const RowNorm& norm,
                   std::int64_t C) {
    if (norm.kind == NormKind::layer)
        layer_normalise_row(y + row * C, mean[row], rstd[row], x, norm, C);
    else
        rms_normalise_row(y + row * C, rstd[row], x, norm, C);
}

// One row of dx, and its share of dweight and dbias added to the partial sums.
// With n = (x - mean) rstd and g = dy weight: dx = rstd (g - mean(g) - n mean(g n)).
void layer_backward_row(float* dx, float* dweight, float* dbias, const float* dy, const float* dresidual,
                        const float* x, float mean, float rstd, const float* weight, std::int64_t C) {
    const auto width = static_cast<float>(C);
    const float g_mean = sum_of(C, [&](std::int64_t i) { return dy[i] * weight[i]; }) / width;
    const float gn_mean = sum_of(C,
                                 [&](std::int64_t i) {
                                     const float n = (x[i] - mean) * rstd;
                                     dweight[i] += dy[i] * n;
                                     dbias[i] += dy[i];
                                     return dy[i] * weight[i] * n;
                                 }) /
                          width;
    if (dresidual == nullptr) {
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i)
            dx[i] = rstd * (dy[i] * weight[i] - g_mean - (x[i] - mean) * rstd * gn_mean);
    } else {
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i)
            dx[i] = dresidual[i] + rstd * (dy[i] * weight[i] - g_mean - (x[i] - mean) * rstd * gn_mean);
    }
}

// The same of RMS normalisation: with n = x rstd and g = dy weight, dx = rstd (g - n mean(g n)).
void rms_backward_row(float* dx, float* dweight, const float* dy, const float* dresidual, const float* x, float rstd,
                      const float* weight, std::int64_t C) {
    const float gn_mean = sum_of(C,
                                 [&](std::int64_t i) {
                                     const float n = x[i] * rstd;
                                     dweight[i] += dy[i] * n;
                                     return dy[i] * weight[i] * n;
                                 }) /
                          static_cast<float>(C);
    if (dresidual == nullptr) {
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i) dx[i] = rstd * (dy[i] * weight[i] - x[i] * rstd * gn_mean);
    } else {
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i) dx[i] = dresidual[i] + rstd * (dy[i] * weight[i] - x[i] * rstd * gn_mean);
    }
}

// Rows that share one partial sum of dweight and dbias.
std::int64_t rows_per_partial(std::int64_t rows) {
    return std::max(kRowBlock, ceil_div(rows, kMaxPartials));
}

}  // namespace

template <>
void norm_forward(Exec& exec, float* y, float* gathered, float* mean, float* rstd, const float* stream,
                  const std::int32_t* index, const float* weight, const float* bias, std::int64_t B, std::int64_t T,
                  std::int64_t K, std::int64_t C, const NormSpec& spec) {
    const RowNorm norm(weight, bias, spec);
    parallel_rows(exec.threads, B * K, [&](std::int64_t row) {
        const float* x = stream + stream_row(index, row, T, K) * C;
        if (gathered != nullptr) std::copy_n(x, C, gathered + row * C);
        normalise_row(y, mean, rstd, row, x, norm, C);
    });
}

template <>
void residual_norm_forward(Exec& exec, float* y, float* sum, float* mean, float* rstd, const float* a,
                           const float* delta, const float* weight, const float* bias, std::int64_t rows,
                           std::int64_t C, const NormSpec& spec) {
    const RowNorm norm(weight, bias, spec);
    parallel_rows(exec.threads, rows, [&](std::int64_t row) {
        const float *a_row = a + row * C, *delta_row = delta + row * C;
        float* sum_row = sum + row * C;
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i) sum_row[i] = a_row[i] + delta_row[i];
        normalise_row(y, mean, rstd, row, sum_row, norm, C);
    });
}

template <>
void residual_forward(Exec& exec, float* out, const std::int32_t* index, const float* a, const float* delta,
                      std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C) {
    parallel_rows(exec.threads, B * K, [&](std::int64_t row) {
        const float* a_row = a + row * C;
        float* out_row = out + stream_row(index, row, T, K) * C;
        if (delta == nullptr) {
            std::copy_n(a_row, C, out_row);
            return;
        }
        const float* delta_row = delta + row * C;
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i) out_row[i] = a_row[i] + delta_row[i];
    });
}

template <>
void norm_backward(Exec& exec, float* dx, const std::int32_t* index, float* dweight, float* dbias, const float* dy,
                   const float* dresidual, const float* x, const float* mean, const float* rstd, const float* weight,
                   std::int64_t B, std::int64_t T, std::int64_t K, std::int64_t C, Accumulate accumulate,
                   const NormSpec& spec) {
    const std::int64_t rows = B * K;
    require_workspace(exec, norm_backward_workspace(rows, C), "norm_backward");
    const bool is_layer = spec.kind == NormKind::layer;
    const std::int64_t chunk = rows_per_partial(rows), chunks = ceil_div(rows, chunk);
    float* partial = scratch<float>(exec, 0);  // (chunks, 2, C)
    parallel_items(exec.threads, chunks, [&](std::int64_t i, int) {
        float *chunk_dweight = partial + i * 2 * C, *chunk_dbias = chunk_dweight + C;
        std::fill_n(chunk_dweight, 2 * C, 0.0f);
        widest_vectors([&] {
            for (std::int64_t row = i * chunk; row < std::min(rows, (i + 1) * chunk); ++row) {
                float* dx_row = dx + stream_row(index, row, T, K) * C;
                const float *dy_row = dy + row * C, *x_row = x + row * C;
                const float* dresidual_row = dresidual == nullptr ? nullptr : dresidual + row * C;
                if (is_layer)
                    layer_backward_row(dx_row, chunk_dweight, chunk_dbias, dy_row, dresidual_row, x_row, mean[row],
                                       rstd[row], weight, C);
                else
                    rms_backward_row(dx_row, chunk_dweight, dy_row, dresidual_row, x_row, rstd[row], weight, C);
            }
        });
    });
    // The partial sums are added in order of chunk.
    const WorkerScope scope;
    if (accumulate == Accumulate::no) {
        std::fill_n(dweight, C, 0.0f);
        if (is_layer) std::fill_n(dbias, C, 0.0f);
    }
    for (std::int64_t i = 0; i < chunks; ++i) {
        const float *chunk_dweight = partial + i * 2 * C, *chunk_dbias = chunk_dweight + C;
#pragma omp simd
        for (std::int64_t c = 0; c < C; ++c) dweight[c] += chunk_dweight[c];
        if (!is_layer) continue;
#pragma omp simd
        for (std::int64_t c = 0; c < C; ++c) dbias[c] += chunk_dbias[c];
    }
}

std::size_t norm_backward_workspace(std::int64_t rows, std::int64_t C) {
    // For as many partial sums as any number of rows up to this one has: fewer rows may have more of them.
    return scratch_bytes<float>(std::min(kMaxPartials, ceil_div(rows, kRowBlock)) * 2 * C);
}

template <>
void gather_rows(Exec& exec, float* out, const float* stream, const std::int32_t* index, std::int64_t B, std::int64_t T,
                 std::int64_t K, std::int64_t C) {
    parallel_rows(exec.threads, B * K,
                  [&](std::int64_t row) { std::copy_n(stream + stream_row(index, row, T, K) * C, C, out + row * C); });
}

}  // namespace deft::kernels::cpu
