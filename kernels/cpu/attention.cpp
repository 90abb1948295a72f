#include "kernels/cpu/cpu.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"
#include "kernels/require_attention.h"

namespace deft::kernels::cpu {

namespace {

// Tiles of queries x keys. Where queries and keys are as many, the first key of a visited tile is visible to every
// query of it, since a key tile spans whole query tiles.
constexpr std::int64_t kForwardQueries = 64, kForwardKeys = 256;
constexpr std::int64_t kBackwardQueries = 64, kBackwardKeys = 128;
static_assert(kForwardKeys % kForwardQueries == 0 && kBackwardKeys % kBackwardQueries == 0);
static_assert(kForwardKeys % AttentionDropout::kKeysOfGroup == 0 &&
              kBackwardKeys % AttentionDropout::kKeysOfGroup == 0);

// One head of queries of one sample: what of it every tile asks for.
struct Head {
    const AttentionSpec& spec;
    std::int64_t b, h;

    std::int64_t of_keys() const { return h / spec.group(); }
    std::int64_t queries() const { return spec.real(b, spec.Tq); }  // without padding
    std::int64_t keys() const { return spec.real(b, spec.Tk); }
    std::int64_t stride() const { return spec.H * spec.d; }  // of (B, Tq, H, d)
    // In (B, Tq, H, d), or in packed rows.
    std::int64_t plain() const { return (spec.first_row(b, spec.Tq) * spec.H + h) * spec.d; }
    std::int64_t row() const { return (b * spec.H + h) * spec.Tq; }  // in (B, H, Tq)
    // Keys that the queries before `end` see, and of those from k0 on those that query t sees.
    std::int64_t seen(std::int64_t end) const { return spec.causal ? std::min(keys(), end + spec.offset()) : keys(); }
    std::int64_t visible(std::int64_t t, std::int64_t k0, std::int64_t keys_of_tile) const {
        return spec.causal ? std::clamp<std::int64_t>(t + spec.offset() - k0 + 1, 0, keys_of_tile) : keys_of_tile;
    }
};

// factor (keys, up to the next multiple of kKeysOfGroup) of the probabilities of query t and the keys from k0 on: 0
// where they are dropped.
void dropout_factors(float* factor, const Head& head, std::int64_t t, std::int64_t k0, std::int64_t keys) {
    constexpr std::int64_t kLanes = AttentionDropout::kApart, kGroup = AttentionDropout::kKeysOfGroup;
    const AttentionDropout dropout = head.spec.dropout;
    const std::uint32_t threshold = dropout.threshold();
    const float scale = dropout.scale();
    for (std::int64_t first = 0; first < keys; first += kGroup) {
        const std::int64_t block = AttentionDropout::block_of(k0 + first);
        std::uint32_t word[4][kLanes];
#pragma omp simd
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const PhiloxBlock drawn = dropout.block(head.b, head.h, t, block + lane);
            for (int w = 0; w < 4; ++w) word[w][lane] = drawn.word[w];
        }
        for (std::int64_t w = 0; w < 4; ++w)
            for (std::int64_t lane = 0; lane < kLanes; ++lane)
                factor[first + w * kLanes + lane] = word[w][lane] < threshold ? 0.0f : scale;
    }
}

void multiply(float* row, const float* factor, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) row[i] *= factor[i];
}

// Entries that a row of scores is worked on in steps of: those between its visible ones and the next multiple are there
// to be overwritten.
constexpr std::int64_t kRowStep = 16;
static_assert(kForwardKeys % kRowStep == 0 && kBackwardKeys % kRowStep == 0);

// scores: a row of the tile Q K^T, which sees its first `visible` entries; turned into exp(scale s - max) with the
// running max and sum brought up to date. Returns what the row's earlier output must be scaled by.
// A row that sees none of the tile is left as it was.
float online_softmax_row(float* scores, std::int64_t visible, std::int64_t keys, float scale, float& running_max,
                         float& running_sum, bool first) {
    if (visible == 0) {
        std::fill_n(scores, keys, 0.0f);
        if (!first) return 1;
        running_max = -std::numeric_limits<float>::infinity();
        running_sum = 0;
        return 0;
    }
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

// Rows [first, last) of stride `stride` become 0.
void clear_rows(float* rows, std::int64_t stride, std::int64_t d, std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) std::fill_n(rows + t * stride, d, 0.0f);
}

// FlashAttention-2 algorithm 1 for one head.
void forward_head(const Head& head, float* out, float* lse, const AttentionHeads<const float>& in, float* scores) {
    const AttentionSpec& spec = head.spec;
    const std::int64_t Tq = head.queries(), d = spec.d, stride = head.stride();
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    const float* q = spec.head(in.q, head.b, head.h);
    const float *k = spec.head(in.k, head.b, head.of_keys()), *v = spec.head(in.v, head.b, head.of_keys());
    out += head.plain();
    lse += head.row();
    clear_rows(out, stride, d, Tq, spec.rows(head.b, spec.Tq));
    std::fill(lse + Tq, lse + spec.Tq, 0.0f);
    float running_max[kForwardQueries] = {}, running_sum[kForwardQueries] = {}, factor[kForwardKeys];
    for (std::int64_t q0 = 0; q0 < Tq; q0 += kForwardQueries) {
        const std::int64_t queries = std::min(kForwardQueries, Tq - q0);
        const std::int64_t seen = head.seen(q0 + queries);
        float* out_tile = out + q0 * stride;
        bool first = true;
        for (std::int64_t k0 = 0; k0 < seen; k0 += kForwardKeys) {
            const std::int64_t keys = std::min(kForwardKeys, seen - k0);
            gemm_tile(scores, kForwardKeys, {q + q0 * in.q.row_stride, in.q.row_stride},
                      {k + k0 * in.k.row_stride, in.k.row_stride, true}, queries, keys, d, 0.0f);
            widest_vectors([&] {
                for (std::int64_t i = 0; i < queries; ++i) {
                    float* row = scores + i * kForwardKeys;
                    const std::int64_t visible = head.visible(q0 + i, k0, keys);
                    const float rescale =
                        online_softmax_row(row, visible, keys, scale, running_max[i], running_sum[i], first);
                    if (!first) scale_row(out_tile + i * stride, d, rescale);
                    if (spec.dropout.p == 0) continue;
                    dropout_factors(factor, head, q0 + i, k0, visible);
                    multiply(row, factor, visible);
                }
            });
            gemm_tile(out_tile, stride, {scores, kForwardKeys}, {v + k0 * in.v.row_stride, in.v.row_stride}, queries, d,
                      keys, first ? 0.0f : 1.0f);
            first = false;
        }
        for (std::int64_t i = 0; i < queries; ++i) {
            scale_row(out_tile + i * stride, d, 1.0f / running_sum[i]);
            lse[q0 + i] = running_max[i] + std::log(running_sum[i]);
        }
    }
}

// The same of the one query of a sample: its products are sums of few values, which no library need tile. scores as
// many as a tile has.
void forward_query(const Head& head, float* out, float* lse, const AttentionHeads<const float>& in, float* scores) {
    constexpr std::int64_t kKeys = kForwardQueries * kForwardKeys;
    const AttentionSpec& spec = head.spec;
    const std::int64_t d = spec.d, seen = head.seen(1);
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    const float* q = spec.head(in.q, head.b, head.h);
    const float *k = spec.head(in.k, head.b, head.of_keys()), *v = spec.head(in.v, head.b, head.of_keys());
    out += head.plain();
    float running_max = 0, running_sum = 0;
    for (std::int64_t k0 = 0; k0 < seen; k0 += kKeys) {
        const std::int64_t keys = std::min(kKeys, seen - k0);
        widest_vectors([&] {
            for (std::int64_t i = 0; i < keys; ++i) {
                const float* key = k + (k0 + i) * in.k.row_stride;
                scores[i] = sum_of(d, [&](std::int64_t j) { return q[j] * key[j]; });
            }
            const float rescale = online_softmax_row(scores, keys, keys, scale, running_max, running_sum, k0 == 0);
            if (k0 == 0)
                std::fill_n(out, d, 0.0f);
            else
                scale_row(out, d, rescale);
            for (std::int64_t i = 0; i < keys; ++i) {
                const float* value = v + (k0 + i) * in.v.row_stride;
#pragma omp simd
                for (std::int64_t j = 0; j < d; ++j) out[j] += scores[i] * value[j];
            }
        });
    }
    scale_row(out, d, 1.0f / running_sum);
    lse[head.row()] = running_max + std::log(running_sum);
}

// One row of p (keys) from scores s: exp(scale s - lse); and of ds from dp: scale p (dp - delta). The row sees its
// first `visible` entries; the others become 0.
void backward_row(float* p_row, float* ds_row, float lse, float delta, std::int64_t visible, std::int64_t keys,
                  float scale) {
    const std::int64_t width = ceil_div(visible, kRowStep) * kRowStep;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) {
        const float value = vector_exp(scale * p_row[j] - lse);
        p_row[j] = value;
        ds_row[j] = scale * value * (ds_row[j] - delta);
    }
    std::fill(p_row + visible, p_row + keys, 0.0f);
    std::fill(ds_row + visible, ds_row + keys, 0.0f);
}

struct BackwardScratch {
    float* scores;  // (kBackwardQueries, kBackwardKeys)
    float* dp;      // (kBackwardQueries, kBackwardKeys)
    float* delta;   // (Tq)
};

// The rows of a tile of probabilities and score gradients. With dropout m, the output is (p m) v, so that dv = (p m)^T
// dout and dp = m (dout v^T); delta stays dout . out.
void backward_tile(const Head& head, const BackwardScratch& scratch, const float* lse, std::int64_t q0,
                   std::int64_t queries, std::int64_t k0, std::int64_t keys, float scale) {
    const AttentionSpec& spec = head.spec;
    float factor[kBackwardKeys];
    for (std::int64_t i = 0; i < queries; ++i) {
        float *p_row = scratch.scores + i * kBackwardKeys, *ds_row = scratch.dp + i * kBackwardKeys;
        const std::int64_t visible = head.visible(q0 + i, k0, keys);
        if (spec.dropout.p != 0) {
            dropout_factors(factor, head, q0 + i, k0, visible);
            multiply(ds_row, factor, visible);
        }
        backward_row(p_row, ds_row, lse[q0 + i], scratch.delta[q0 + i], visible, keys, scale);
        if (spec.dropout.p != 0) multiply(p_row, factor, visible);
    }
}

// FlashAttention-2 algorithm 2 for one head of queries. The first of those that share keys writes their gradients, the
// others add.
void backward_head(const Head& head, const AttentionHeads<float>& gradients, const float* dout, const float* out,
                   const AttentionHeads<const float>& in, const float* lse, const BackwardScratch& scratch,
                   bool first_of_group) {
    const AttentionSpec& spec = head.spec;
    const std::int64_t Tq = head.queries(), Tk = head.keys(), d = spec.d, stride = head.stride();
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    const float* q = spec.head(in.q, head.b, head.h);
    const float *k = spec.head(in.k, head.b, head.of_keys()), *v = spec.head(in.v, head.b, head.of_keys());
    float* dq = spec.head(gradients.q, head.b, head.h);
    float *dk = spec.head(gradients.k, head.b, head.of_keys()), *dv = spec.head(gradients.v, head.b, head.of_keys());
    const std::int64_t dq_stride = gradients.q.row_stride;
    const std::int64_t dk_stride = gradients.k.row_stride, dv_stride = gradients.v.row_stride;
    out += head.plain();
    dout += head.plain();
    lse += head.row();
    // The first key tile writes dq of every query: it is seen by all.
    clear_rows(dq, dq_stride, d, Tq, spec.rows(head.b, spec.Tq));
    if (first_of_group) {
        clear_rows(dk, dk_stride, d, Tk, spec.rows(head.b, spec.Tk));
        clear_rows(dv, dv_stride, d, Tk, spec.rows(head.b, spec.Tk));
    }
    for (std::int64_t t = 0; t < Tq; ++t) {
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (std::int64_t i = 0; i < d; ++i) total += dout[t * stride + i] * out[t * stride + i];
        scratch.delta[t] = total;
    }
    for (std::int64_t k0 = 0; k0 < Tk; k0 += kBackwardKeys) {
        const Operand k_tile{k + k0 * in.k.row_stride, in.k.row_stride};  // (keys, d)
        const Operand k_tile_t{k_tile.data, k_tile.leading, true};
        const Operand v_tile_t{v + k0 * in.v.row_stride, in.v.row_stride, true};
        if (first_of_group) {
            clear_rows(dk, dk_stride, d, k0, std::min(Tk, k0 + kBackwardKeys));
            clear_rows(dv, dv_stride, d, k0, std::min(Tk, k0 + kBackwardKeys));
        }
        // The tile of the first query that sees key k0.
        const std::int64_t first_query = spec.causal ? std::max<std::int64_t>(0, k0 - spec.offset()) : 0;
        for (std::int64_t q0 = first_query / kBackwardQueries * kBackwardQueries; q0 < Tq; q0 += kBackwardQueries) {
            const std::int64_t queries = std::min(kBackwardQueries, Tq - q0);
            const std::int64_t keys = std::min(kBackwardKeys, head.seen(q0 + queries) - k0);
            if (keys <= 0) continue;
            const Operand q_tile{q + q0 * in.q.row_stride, in.q.row_stride};  // (queries, d)
            const Operand dout_tile{dout + q0 * stride, stride};              // (queries, d)
            gemm_tile(scratch.scores, kBackwardKeys, q_tile, k_tile_t, queries, keys, d, 0.0f);
            gemm_tile(scratch.dp, kBackwardKeys, dout_tile, v_tile_t, queries, keys, d, 0.0f);
            widest_vectors([&] { backward_tile(head, scratch, lse, q0, queries, k0, keys, scale); });
            const float query_beta = k0 == 0 ? 0.0f : 1.0f;
            const Operand p_t{scratch.scores, kBackwardKeys, true}, ds{scratch.dp, kBackwardKeys},
                ds_t{scratch.dp, kBackwardKeys, true};
            gemm_tile(dv + k0 * dv_stride, dv_stride, p_t, dout_tile, keys, d, queries, 1.0f);
            gemm_tile(dk + k0 * dk_stride, dk_stride, ds_t, q_tile, keys, d, queries, 1.0f);
            gemm_tile(dq + q0 * dq_stride, dq_stride, ds, k_tile, queries, d, keys, query_beta);
        }
    }
}

}  // namespace

template <>
void attention_forward(Exec& exec, float* out, float* lse, const AttentionHeads<const float>& in,
                       const AttentionSpec& spec) {
    require_attention(spec);
    require_workspace(exec, attention_forward_workspace(exec.threads, spec.Tq, spec.d), "attention_forward");
    const std::size_t thread_bytes = attention_forward_workspace(1, spec.Tq, spec.d);
    parallel_items(exec.threads, spec.B * spec.H, [&](std::int64_t item, int thread) {
        const Head head{spec, item / spec.H, item % spec.H};
        float* scores = scratch<float>(exec, static_cast<std::size_t>(thread) * thread_bytes);
        const bool is_query = spec.Tq == 1 && head.queries() == 1 && spec.dropout.p == 0;
        is_query ? forward_query(head, out, lse, in, scores) : forward_head(head, out, lse, in, scores);
    });
}

std::size_t attention_forward_workspace(int threads, std::int64_t, std::int64_t) {
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(kForwardQueries * kForwardKeys);
}

template <>
void attention_backward(Exec& exec, const AttentionHeads<float>& gradients, const float* dout, const float* out,
                        const AttentionHeads<const float>& in, const float* lse, const AttentionSpec& spec) {
    require_attention(spec);
    require_workspace(exec, attention_backward_workspace(exec.threads, spec.Tq, spec.d), "attention_backward");
    const std::size_t thread_bytes = attention_backward_workspace(1, spec.Tq, spec.d);
    parallel_items(exec.threads, spec.B * spec.Hkv, [&](std::int64_t item, int thread) {
        float* base = scratch<float>(exec, static_cast<std::size_t>(thread) * thread_bytes);
        const std::int64_t tile = kBackwardQueries * kBackwardKeys, first = item % spec.Hkv * spec.group();
        for (std::int64_t h = first; h < first + spec.group(); ++h)
            backward_head({spec, item / spec.Hkv, h}, gradients, dout, out, in, lse,
                          {base, base + tile, base + 2 * tile}, h == first);
    });
}

std::size_t attention_backward_workspace(int threads, std::int64_t Tq, std::int64_t) {
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(2 * kBackwardQueries * kBackwardKeys + Tq);
}

}  // namespace deft::kernels::cpu
