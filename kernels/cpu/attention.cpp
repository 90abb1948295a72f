#include "kernels/cpu/cpu.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

// Tiles of queries x keys. A key tile spans whole query tiles, so the first key of a visited tile is visible to every
// query of it.
constexpr std::int64_t kForwardQueries = 64, kForwardKeys = 256;
constexpr std::int64_t kBackwardQueries = 64, kBackwardKeys = 128;
static_assert(kForwardKeys % kForwardQueries == 0 && kBackwardKeys % kBackwardQueries == 0);

// One head of a packed qkv (B, T, 3, H, d): rows of stride 3 H d.
struct Head {
    std::int64_t b, h, T, H, d;
    std::int64_t real;  // tokens; the rest of T is padding

    std::int64_t packed_stride() const { return 3 * H * d; }
    std::int64_t stride() const { return H * d; }
    std::int64_t packed(std::int64_t which) const { return (b * T * 3 + which) * H * d + h * d; }  // 0 q, 1 k, 2 v
    std::int64_t plain() const { return b * T * H * d + h * d; }                                   // in (B, T, H, d)
    std::int64_t row() const { return (b * H + h) * T; }                                           // in (B, H, T)
};

// Entries that a row of scores is worked on in steps of: those between its visible ones and the next multiple are there
// to be overwritten.
constexpr std::int64_t kRowStep = 16;
static_assert(kForwardKeys % kRowStep == 0 && kBackwardKeys % kRowStep == 0);

// scores: a row of the tile Q K^T, which sees its first `visible` entries; turned into exp(scale s - max) with the
// running max and sum brought up to date. Returns what the row's earlier output must be scaled by.
float online_softmax_row(float* scores, std::int64_t visible, std::int64_t keys, float scale, float& running_max,
                         float& running_sum, bool first) {
    const std::int64_t width = ceil_div(visible, kRowStep) * kRowStep;
    std::fill(scores + visible, scores + width, -std::numeric_limits<float>::infinity());
    const float highest = largest(scores, width) * scale;
    const float new_max = first || highest > running_max ? highest : running_max;
    const float rescale = first ? 0.0f : vector_exp(running_max - new_max);
    const float total =
        sum_of(width, [&](std::int64_t i) { return scores[i] = vector_exp(scale * scores[i] - new_max); });
    if (width < keys) std::fill(scores + width, scores + keys, 0.0f);
    running_sum = first ? total : running_sum * rescale + total;
    running_max = new_max;
    return rescale;
}

void scale_row(float* row, std::int64_t n, float factor) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) row[i] *= factor;
}

std::int64_t real_tokens(const std::int32_t* length, std::int64_t b, std::int64_t T) {
    return length == nullptr ? T : std::min<std::int64_t>(length[b], T);
}

// Rows [first, last) of stride `stride` become 0.
void clear_rows(float* rows, std::int64_t stride, std::int64_t d, std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) std::fill_n(rows + t * stride, d, 0.0f);
}

// FlashAttention-2 algorithm 1 for one head.
void forward_head(const Head& head, float* out, float* lse, const float* qkv, float* scores, bool causal) {
    const std::int64_t T = head.real, d = head.d, packed_stride = head.packed_stride(), stride = head.stride();
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    const float *q = qkv + head.packed(0), *k = qkv + head.packed(1), *v = qkv + head.packed(2);
    out += head.plain();
    lse += head.row();
    clear_rows(out, stride, d, T, head.T);
    std::fill(lse + T, lse + head.T, 0.0f);
    float running_max[kForwardQueries] = {}, running_sum[kForwardQueries] = {};
    for (std::int64_t q0 = 0; q0 < T; q0 += kForwardQueries) {
        const std::int64_t queries = std::min(kForwardQueries, T - q0);
        const std::int64_t seen = causal ? q0 + queries : T;
        float* out_tile = out + q0 * stride;
        for (std::int64_t k0 = 0; k0 < seen; k0 += kForwardKeys) {
            const std::int64_t keys = std::min(kForwardKeys, seen - k0);
            const bool first = k0 == 0;
            gemm_tile(scores, kForwardKeys, {q + q0 * packed_stride, packed_stride},
                      {k + k0 * packed_stride, packed_stride, true}, queries, keys, d, 0.0f);
            widest_vectors([&] {
                for (std::int64_t i = 0; i < queries; ++i) {
                    const std::int64_t visible = causal ? std::min(keys, q0 + i - k0 + 1) : keys;
                    const float rescale = online_softmax_row(scores + i * kForwardKeys, visible, keys, scale,
                                                             running_max[i], running_sum[i], first);
                    if (!first) scale_row(out_tile + i * stride, d, rescale);
                }
            });
            gemm_tile(out_tile, stride, {scores, kForwardKeys}, {v + k0 * packed_stride, packed_stride}, queries, d,
                      keys, first ? 0.0f : 1.0f);
        }
        for (std::int64_t i = 0; i < queries; ++i) {
            scale_row(out_tile + i * stride, d, 1.0f / running_sum[i]);
            lse[q0 + i] = running_max[i] + std::log(running_sum[i]);
        }
    }
}

// p (queries, keys) from scores s: exp(scale s - lse); ds from dp: scale p (dp - delta). Row i sees its first
// first_visible + i entries; the others become 0.
void backward_tile(float* p, float* ds, const float* lse, const float* delta, std::int64_t queries, std::int64_t keys,
                   float scale, std::int64_t first_visible) {
    for (std::int64_t i = 0; i < queries; ++i) {
        const std::int64_t visible = std::min(keys, first_visible + i);
        float *p_row = p + i * kBackwardKeys, *ds_row = ds + i * kBackwardKeys;
        const std::int64_t width = ceil_div(visible, kRowStep) * kRowStep;
#pragma omp simd
        for (std::int64_t j = 0; j < width; ++j) {
            const float value = vector_exp(scale * p_row[j] - lse[i]);
            p_row[j] = value;
            ds_row[j] = scale * value * (ds_row[j] - delta[i]);
        }
        std::fill(p_row + visible, p_row + keys, 0.0f);
        std::fill(ds_row + visible, ds_row + keys, 0.0f);
    }
}

struct BackwardScratch {
    float* scores;  // (kBackwardQueries, kBackwardKeys)
    float* dp;      // (kBackwardQueries, kBackwardKeys)
    float* delta;   // (T)
};

// FlashAttention-2 algorithm 2 for one head.
void backward_head(const Head& head, float* dqkv, const float* dout, const float* out, const float* qkv,
                   const float* lse, const BackwardScratch& scratch, bool causal) {
    const std::int64_t T = head.real, d = head.d, packed_stride = head.packed_stride(), stride = head.stride();
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    const float *q = qkv + head.packed(0), *k = qkv + head.packed(1), *v = qkv + head.packed(2);
    float *dq = dqkv + head.packed(0), *dk = dqkv + head.packed(1), *dv = dqkv + head.packed(2);
    out += head.plain();
    dout += head.plain();
    lse += head.row();
    for (float* gradient : {dq, dk, dv}) clear_rows(gradient, packed_stride, d, T, head.T);
    for (std::int64_t t = 0; t < T; ++t) {
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (std::int64_t i = 0; i < d; ++i) total += dout[t * stride + i] * out[t * stride + i];
        scratch.delta[t] = total;
    }
    for (std::int64_t k0 = 0; k0 < T; k0 += kBackwardKeys) {
        const Operand k_tile{k + k0 * packed_stride, packed_stride};  // (keys, d)
        const Operand k_tile_t{k_tile.data, packed_stride, true};
        const Operand v_tile_t{v + k0 * packed_stride, packed_stride, true};
        for (float* gradient : {dk, dv}) clear_rows(gradient, packed_stride, d, k0, std::min(T, k0 + kBackwardKeys));
        for (std::int64_t q0 = causal ? k0 : 0; q0 < T; q0 += kBackwardQueries) {
            const std::int64_t queries = std::min(kBackwardQueries, T - q0);
            const std::int64_t keys = std::min(kBackwardKeys, (causal ? q0 + queries : T) - k0);
            const Operand q_tile{q + q0 * packed_stride, packed_stride};  // (queries, d)
            const Operand dout_tile{dout + q0 * stride, stride};          // (queries, d)
            gemm_tile(scratch.scores, kBackwardKeys, q_tile, k_tile_t, queries, keys, d, 0.0f);
            gemm_tile(scratch.dp, kBackwardKeys, dout_tile, v_tile_t, queries, keys, d, 0.0f);
            widest_vectors([&] {
                backward_tile(scratch.scores, scratch.dp, lse + q0, scratch.delta + q0, queries, keys, scale,
                              causal ? q0 - k0 + 1 : keys);
            });
            const float query_beta = k0 == 0 ? 0.0f : 1.0f;  // the first key tile writes dq, later ones add
            const Operand p_t{scratch.scores, kBackwardKeys, true}, ds{scratch.dp, kBackwardKeys},
                ds_t{scratch.dp, kBackwardKeys, true};
            gemm_tile(dv + k0 * packed_stride, packed_stride, p_t, dout_tile, keys, d, queries, 1.0f);
            gemm_tile(dk + k0 * packed_stride, packed_stride, ds_t, q_tile, keys, d, queries, 1.0f);
            gemm_tile(dq + q0 * packed_stride, packed_stride, ds, k_tile, queries, d, keys, query_beta);
        }
    }
}

}  // namespace

void attention_forward(Exec& exec, float* out, float* lse, const float* qkv, std::int64_t B, std::int64_t T,
                       std::int64_t H, std::int64_t d, bool causal, const std::int32_t* length) {
    require_workspace(exec, attention_forward_workspace(exec.threads, T, d), "attention_forward");
    const std::size_t thread_bytes = attention_forward_workspace(1, T, d);
    parallel_items(exec.threads, B * H, [&](std::int64_t item, int thread) {
        forward_head({item / H, item % H, T, H, d, real_tokens(length, item / H, T)}, out, lse, qkv,
                     scratch<float>(exec, static_cast<std::size_t>(thread) * thread_bytes), causal);
    });
}

std::size_t attention_forward_workspace(int threads, std::int64_t, std::int64_t) {
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(kForwardQueries * kForwardKeys);
}

void attention_backward(Exec& exec, float* dqkv, const float* dout, const float* out, const float* qkv,
                        const float* lse, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal,
                        const std::int32_t* length) {
    require_workspace(exec, attention_backward_workspace(exec.threads, T, d), "attention_backward");
    const std::size_t thread_bytes = attention_backward_workspace(1, T, d);
    parallel_items(exec.threads, B * H, [&](std::int64_t item, int thread) {
        float* base = scratch<float>(exec, static_cast<std::size_t>(thread) * thread_bytes);
        const std::int64_t tile = kBackwardQueries * kBackwardKeys;
        backward_head({item / H, item % H, T, H, d, real_tokens(length, item / H, T)}, dqkv, dout, out, qkv, lse,
                      {base, base + tile, base + 2 * tile}, causal);
    });
}

std::size_t attention_backward_workspace(int threads, std::int64_t T, std::int64_t) {
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(2 * kBackwardQueries * kBackwardKeys + T);
}

}  // namespace deft::kernels::cpu
