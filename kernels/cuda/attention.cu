#include "kernels/cuda/cuda.h"

#include <cmath>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "kernels/cuda/attention_on_tensor_cores.h"
#include "kernels/cuda/attention_tiles.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/tensor_tiles.h"
#include "kernels/cuda/workspace.h"
#include "kernels/require_attention.h"

namespace deft::kernels::cuda {

namespace {

// The blocks of one head are spread out, so that blocks that start together have about the same work; the longest go
// first.
struct TilePlace {
    std::int32_t b, head, first_row;
};
template <class Tile>
__device__ inline TilePlace tile_place(const AttentionSpec& s, std::int64_t heads_of_sample, std::int64_t T,
                                       bool longest_last) {
    const auto heads = static_cast<std::int32_t>(heads_of_sample), all = static_cast<std::int32_t>(s.B) * heads;
    const auto tiles = static_cast<std::int32_t>(ceil_div(T, Tile::kRows));
    const std::int32_t block = static_cast<std::int32_t>(blockIdx.x), number = block / all;
    return {block % all / heads, block % heads, (s.causal && longest_last ? tiles - 1 - number : number) * Tile::kRows};
}

// Keys that a tile of queries sees.
template <class Tile>
__device__ inline std::int32_t keys_seen(const Head& head, std::int32_t first_row) {
    if (first_row >= head.queries) return 0;
    const std::int32_t end = first_row + Tile::kRows + head.reach;
    return end < head.keys ? end : head.keys;
}

// FlashAttention-2 algorithm 1: one block a tile of queries. Each thread holds, of its rows, the running maximum m and
// sum l of the scores' exponentials, as do the 15 others of the row, and its own columns of the output.
template <class Real, class Tile, Extras kExtras>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    attend_queries(Real* out, float* lse, AttentionHeads<const Real> in, AttentionSpec s, float scale) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    DEFT_DYNAMIC_SHARED(float, tiles);
    float *const q = tiles, *const k = q + Tile::kSize, *const v = k + Tile::kSize, *const p = v + Tile::kSize;
    const TilePlace place = tile_place<Tile>(s, s.H, s.Tq, true);
    const Head head(s, place.b, place.head);
    const std::int32_t seen = keys_seen<Tile>(head, place.first_row);
    const std::int64_t of_keys = head.h / s.group();
    load_tile<Tile>(q, s.head(in.q, head.b, head.h), in.q.row_stride, place.first_row, head.queries, s.d);
    const float keep_scale = s.dropout.scale();
    float m[kItems], l[kItems] = {}, o[kItems][kCols] = {};
    for (float& highest : m) highest = -INFINITY;
    for (std::int32_t k0 = 0; k0 < seen; k0 += Tile::kRows) {
        load_tile<Tile>(k, s.head(in.k, head.b, of_keys), in.k.row_stride, k0, head.keys, s.d);
        load_tile<Tile>(v, s.head(in.v, head.b, of_keys), in.v.row_stride, k0, head.keys, s.d);
        __syncthreads();
        std::uint32_t kept = 0;
        if (kExtras == Extras::some) kept = kept_probabilities<Tile>(s.dropout, head, place.first_row, k0);
        float score[kItems][kItems] = {};
        add_row_products<Tile>(score, q, k);
        for (int i = 0; i < kItems; ++i) {
            const std::int32_t query = place.first_row + Tile::row(i);
            float highest = -INFINITY;
            for (int j = 0; j < kItems; ++j) {
                score[i][j] = sees(head, query, k0 + Tile::col(j)) ? scale * score[i][j] : -INFINITY;
                highest = fmaxf(highest, score[i][j]);
            }
            const float new_m = fmaxf(m[i], row_max(highest));
            const float rescale = expf(m[i] - new_m);
            float total = 0;
            for (int j = 0; j < kItems; ++j) {
                const float e = expf(score[i][j] - new_m);
                p[Tile::weight(i, j)] = kExtras == Extras::some ? e * dropout_factor<Tile>(kept, i, j, keep_scale) : e;
                total += e;
            }
            m[i] = new_m;
            l[i] = l[i] * rescale + row_sum(total);
            for (int j = 0; j < kCols; ++j) o[i][j] *= rescale;
        }
        __syncwarp();  // a row of p is written and read by one half warp
        add_weighted_rows<Tile>(o, p, v);
        __syncthreads();  // the tiles have been read
    }
    for (int i = 0; i < kItems; ++i) {
        const std::int32_t t = place.first_row + Tile::row(i);
        if (t >= s.Tq) continue;
        const bool is_real = t < head.queries;
        if (Tile::col(0) == 0) lse[head.row(s) + t] = is_real ? m[i] + logf(l[i]) : 0;
        for (int j = 0; j < kCols; ++j) o[i][j] = is_real ? o[i][j] / l[i] : 0;
    }
    store_tile<Tile>(out + head.plain(s), s.H * s.d, place.first_row, o, s.rows(head.b, s.Tq), s.d);
}

// delta (Tq) of a head = rowsum(dout * out) for the rows of a tile of queries, the FlashAttention-2 algorithm 2's D.
// One warp a row.
template <class Tile, class Real>
__device__ inline void sum_output_gradients(float* delta, const Real* dout, const Real* out, const AttentionSpec& s,
                                            const Head& head, std::int32_t first_row) {
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    for (std::int32_t t = first_row + warp; t < first_row + Tile::kRows && t < head.queries;
         t += kTileThreads / kWarpSize) {
        const std::int64_t first = head.plain(s) + t * s.H * s.d;
        float sum = 0;
        for (std::int64_t i = warp_lane(); i < s.d; i += kWarpSize)
            sum += to_float(dout[first + i]) * to_float(out[first + i]);
        sum = warp_sum(sum);
        if (warp_lane() == 0) delta[t] = sum;
    }
}

// Probabilities p, as dv takes them, and score gradients ds = scale p (dp - delta) of a thread's entries of a tile
// (queries, keys).
template <class Tile, Extras kExtras>
struct TileGradients {
    static constexpr int kItems = Tile::kRowsOfThread;
    float p[kItems][kItems] = {}, ds[kItems][kItems] = {};

    __device__ TileGradients(const float* q, const float* k, const float* dout, const float* v, const float* lse,
                             const float* delta, std::int32_t q0, std::int32_t k0, const AttentionSpec& s,
                             const Head& head, float scale) {
        std::uint32_t kept = 0;
        if (kExtras == Extras::some) kept = kept_probabilities<Tile>(s.dropout, head, q0, k0);
        const float keep_scale = s.dropout.scale();
        add_row_products<Tile>(p, q, k);
        add_row_products<Tile>(ds, dout, v);
        for (int i = 0; i < kItems; ++i) {
            const std::int32_t t = q0 + Tile::row(i);
            const bool is_real = t < head.queries;
            const float row_lse = is_real ? lse[t] : 0, row_delta = is_real ? delta[t] : 0;
            for (int j = 0; j < kItems; ++j) {
                const bool seen = is_real && sees(head, t, k0 + Tile::col(j));
                const float probability = seen ? expf(scale * p[i][j] - row_lse) : 0;
                const float factor = kExtras == Extras::some ? dropout_factor<Tile>(kept, i, j, keep_scale) : 1.0f;
                const float dp = kExtras == Extras::some ? factor * ds[i][j] : ds[i][j];
                ds[i][j] = seen ? scale * probability * (dp - row_delta) : 0;
                p[i][j] = kExtras == Extras::some ? factor * probability : probability;
            }
        }
    }
};

// FlashAttention-2 algorithm 2 without atomic sums, first half: one block a tile of queries walks over the keys that it
// sees. dq = ds k. It leaves delta (B, H, Tq) to the second half.
template <class Real, class Tile, Extras kExtras>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    attention_gradient_of_queries(HeadRows<Real> dq_rows, float* delta, const Real* dout, const Real* out,
                                  AttentionHeads<const Real> in, const float* lse, AttentionSpec s, float scale) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    DEFT_DYNAMIC_SHARED(float, tiles);
    float *const q = tiles, *const dout_tile = q + Tile::kSize, *const k = dout_tile + Tile::kSize;
    float *const v = k + Tile::kSize, *const ds = v + Tile::kSize;
    const TilePlace place = tile_place<Tile>(s, s.H, s.Tq, true);
    const Head head(s, place.b, place.head);
    const std::int32_t seen = keys_seen<Tile>(head, place.first_row);
    const std::int64_t of_keys = head.h / s.group();
    load_tile<Tile>(q, s.head(in.q, head.b, head.h), in.q.row_stride, place.first_row, head.queries, s.d);
    load_tile<Tile>(dout_tile, dout + head.plain(s), s.H * s.d, place.first_row, head.queries, s.d);
    sum_output_gradients<Tile>(delta + head.row(s), dout, out, s, head, place.first_row);
    float dq[kItems][kCols] = {};
    for (std::int32_t k0 = 0; k0 < seen; k0 += Tile::kRows) {
        load_tile<Tile>(k, s.head(in.k, head.b, of_keys), in.k.row_stride, k0, head.keys, s.d);
        load_tile<Tile>(v, s.head(in.v, head.b, of_keys), in.v.row_stride, k0, head.keys, s.d);
        __syncthreads();
        const TileGradients<Tile, kExtras> gradients(q, k, dout_tile, v, lse + head.row(s), delta + head.row(s),
                                                     place.first_row, k0, s, head, scale);
        for (int i = 0; i < kItems; ++i)
            for (int j = 0; j < kItems; ++j) ds[Tile::weight(i, j)] = gradients.ds[i][j];
        __syncwarp();  // a row of ds is written and read by one half warp
        add_weighted_rows<Tile>(dq, ds, k);
        __syncthreads();  // the tiles have been read
    }
    store_tile<Tile>(s.head(dq_rows, head.b, head.h), dq_rows.row_stride, place.first_row, dq, s.rows(head.b, s.Tq),
                     s.d);
}

// Second half: one block a tile of keys walks over the queries that see it, head after head of those that share it.
// dk = ds^T q, dv = p^T dout.
template <class Real, class Tile, Extras kExtras>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    attention_gradient_of_keys(HeadRows<Real> dk_rows, HeadRows<Real> dv_rows, const Real* dout,
                               AttentionHeads<const Real> in, const float* lse, const float* delta, AttentionSpec s,
                               float scale) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    DEFT_DYNAMIC_SHARED(float, tiles);
    float *const k = tiles, *const v = k + Tile::kSize, *const q = v + Tile::kSize, *const dout_tile = q + Tile::kSize;
    float *const p = dout_tile + Tile::kSize, *const ds = p + Tile::kWeights;
    const TilePlace place = tile_place<Tile>(s, s.Hkv, s.Tk, false);
    const auto group = static_cast<std::int32_t>(s.group());
    Head head(s, place.b, place.head * group);
    load_tile<Tile>(k, s.head(in.k, place.b, place.head), in.k.row_stride, place.first_row, head.keys, s.d);
    load_tile<Tile>(v, s.head(in.v, place.b, place.head), in.v.row_stride, place.first_row, head.keys, s.d);
    float dk[kItems][kCols] = {}, dv[kItems][kCols] = {};
    const std::int32_t end = place.first_row < head.keys ? head.queries : 0;  // padding is seen by no query
    const std::int32_t first_query = place.first_row > head.reach ? place.first_row - head.reach : 0;
    for (; head.h < (place.head + 1) * group; ++head.h)
        for (std::int32_t q0 = first_query / Tile::kRows * Tile::kRows; q0 < end; q0 += Tile::kRows) {
            load_tile<Tile>(q, s.head(in.q, head.b, head.h), in.q.row_stride, q0, head.queries, s.d);
            load_tile<Tile>(dout_tile, dout + head.plain(s), s.H * s.d, q0, head.queries, s.d);
            __syncthreads();
            const TileGradients<Tile, kExtras> gradients(q, k, dout_tile, v, lse + head.row(s), delta + head.row(s), q0,
                                                         place.first_row, s, head, scale);
            for (int i = 0; i < kItems; ++i)
                for (int j = 0; j < kItems; ++j) {
                    p[Tile::weight(i, j)] = gradients.p[i][j];
                    ds[Tile::weight(i, j)] = gradients.ds[i][j];
                }
            __syncthreads();
            add_weighted_columns<Tile>(dv, p, dout_tile);
            add_weighted_columns<Tile>(dk, ds, q);
            __syncthreads();  // the tiles have been read
        }
    const std::int64_t stored = s.rows(place.b, s.Tk);
    store_tile<Tile>(s.head(dk_rows, place.b, place.head), dk_rows.row_stride, place.first_row, dk, stored, s.d);
    store_tile<Tile>(s.head(dv_rows, place.b, place.head), dv_rows.row_stride, place.first_row, dv, stored, s.d);
}

// f(Tile, std::integral_constant of Extras) with the smallest tile that holds a head. Extras take registers, so their
// tiles are smaller; with <32, 32> some spill.
template <class F>
void with_kernel(const AttentionSpec& s, const F& f) {
    if (s.d > kMostHeadSize)
        throw Error(ErrorKind::config,
                    "attention on CUDA takes heads of at most " + std::to_string(kMostHeadSize) + " values, not " +
                        std::to_string(s.d),
                    "use more heads, or the CPU");
    constexpr std::integral_constant<Extras, Extras::none> none;
    constexpr std::integral_constant<Extras, Extras::some> some;
    if (s.dropout.p != 0) {
        if (s.d <= 64) return f(HeadTile<32, 64>{}, some);
        return f(HeadTile<32, 128>{}, some);
    }
    if (s.d <= 32) return f(HeadTile<64, 32>{}, none);
    if (s.d <= 64) return f(HeadTile<64, 64>{}, none);
    f(HeadTile<32, 128>{}, none);
}

float score_scale(const AttentionSpec& s) {
    return 1.0f / std::sqrt(static_cast<float>(s.d));
}

// A block for each tile of T rows and each of `heads` heads of a sample, with `shared_floats` floats of shared memory.
template <class Tile>
Launch over_tiles(const char* kernel, const AttentionSpec& s, std::int64_t heads, std::int64_t T,
                  std::int64_t shared_floats) {
    return {kernel, s.B * heads * ceil_div(T, Tile::kRows), kTileThreads,
            static_cast<std::size_t>(shared_floats) * sizeof(float)};
}

}  // namespace

bool fits_tensor_cores(const AttentionSpec& s, const AttentionHeads<const bf16>& in, const bf16* out) {
    const auto is_aligned = [](const HeadRows<const bf16>& rows) {
        return reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 && rows.row_stride % kPiece == 0 &&
               rows.sample_stride % kPiece == 0 && rows.row_stride < kMostRowStride;
    };
    return s.d > 0 && s.d % kPiece == 0 && s.d <= kMostHeadSize && is_aligned(in.q) && is_aligned(in.k) &&
           is_aligned(in.v) && reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
}

template <class Real>
void attention_forward(Exec& exec, Real* out, float* lse, const AttentionHeads<const Real>& in,
                       const AttentionSpec& s) {
    require_attention(s);
    if constexpr (std::is_same_v<Real, bf16>)
        if (fits_tensor_cores(s, in, out)) return attention_forward_on_tensor_cores(exec, out, lse, in, s);
    with_kernel(s, [&]<class Tile, Extras kExtras>(Tile, std::integral_constant<Extras, kExtras>) {
        launch(exec, over_tiles<Tile>("attend_queries", s, s.H, s.Tq, 3 * Tile::kSize + Tile::kWeights),
               attend_queries<Real, Tile, kExtras>, out, lse, in, s, score_scale(s));
    });
}

template <class Real>
void attention_backward(Exec& exec, const AttentionHeads<Real>& gradients, const Real* dout, const Real* out,
                        const AttentionHeads<const Real>& in, const float* lse, const AttentionSpec& s) {
    require_attention(s);
    require_workspace(exec, attention_backward_workspace(s.B, s.Tq, s.H), "attention_backward");
    if constexpr (std::is_same_v<Real, bf16>)
        if (fits_tensor_cores(s, in, out) && fits_tensor_cores(s, read_only(gradients), dout))
            return attention_backward_on_tensor_cores(exec, gradients, dout, out, in, lse, s);
    float* delta = scratch<float>(exec, 0);  // (B, H, Tq)
    with_kernel(s, [&]<class Tile, Extras kExtras>(Tile, std::integral_constant<Extras, kExtras>) {
        launch(exec, over_tiles<Tile>("attention_gradient_of_queries", s, s.H, s.Tq, 4 * Tile::kSize + Tile::kWeights),
               attention_gradient_of_queries<Real, Tile, kExtras>, gradients.q, delta, dout, out, in, lse, s,
               score_scale(s));
        launch(exec,
               over_tiles<Tile>("attention_gradient_of_keys", s, s.Hkv, s.Tk, 4 * Tile::kSize + 2 * Tile::kWeights),
               attention_gradient_of_keys<Real, Tile, kExtras>, gradients.k, gradients.v, dout, in, lse, delta, s,
               score_scale(s));
    });
}

template void attention_forward<float>(Exec&, float*, float*, const AttentionHeads<const float>&, const AttentionSpec&);
template void attention_forward<bf16>(Exec&, bf16*, float*, const AttentionHeads<const bf16>&, const AttentionSpec&);
template void attention_backward<float>(Exec&, const AttentionHeads<float>&, const float*, const float*,
                                        const AttentionHeads<const float>&, const float*, const AttentionSpec&);
template void attention_backward<bf16>(Exec&, const AttentionHeads<bf16>&, const bf16*, const bf16*,
                                       const AttentionHeads<const bf16>&, const float*, const AttentionSpec&);

}  // namespace deft::kernels::cuda
