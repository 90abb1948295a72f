#include "kernels/cuda/cuda.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "kernels/cuda/attention_tiles.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// The blocks of one head stand apart, so that blocks that start together have about the same work; the longest go
// first.
struct TilePlace {
    std::int64_t head, first_row;
};
template <class Tile>
__device__ inline TilePlace tile_place(const AttentionShape& s, bool longest_last) {
    const std::int64_t heads = s.B * s.H, tiles = ceil_div(s.T, Tile::kRows), number = blockIdx.x / heads;
    return {blockIdx.x % heads, (s.causal && longest_last ? tiles - 1 - number : number) * Tile::kRows};
}

// Keys that a tile of queries sees.
template <class Tile>
__device__ inline std::int64_t keys_seen(const Head& head, std::int64_t first_row) {
    if (first_row >= head.real) return 0;
    return head.causal && first_row + Tile::kRows < head.real ? first_row + Tile::kRows : head.real;
}

// FlashAttention-2 algorithm 1: one block a tile of queries. Each thread holds, of its rows, the running maximum m and
// sum l of the scores' exponentials, as do the 15 others of the row, and its own columns of the output.
template <class Real, class Tile>
__global__ void __launch_bounds__(kTileThreads)
    attend_queries(Real* out, float* lse, const Real* qkv, AttentionShape s) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    DEFT_DYNAMIC_SHARED(float, tiles);
    float *const q = tiles, *const k = q + Tile::kSize, *const v = k + Tile::kSize, *const p = v + Tile::kSize;
    const TilePlace place = tile_place<Tile>(s, true);
    const Head head(s, place.head);
    const std::int64_t seen = keys_seen<Tile>(head, place.first_row);
    load_tile<Tile>(q, qkv + head.q, head.packed_stride, place.first_row, head.real, s.d);
    float m[kItems], l[kItems] = {}, o[kItems][kCols] = {};
    for (float& highest : m) highest = -INFINITY;
    for (std::int64_t k0 = 0; k0 < seen; k0 += Tile::kRows) {
        load_tile<Tile>(k, qkv + head.k, head.packed_stride, k0, head.real, s.d);
        load_tile<Tile>(v, qkv + head.v, head.packed_stride, k0, head.real, s.d);
        __syncthreads();
        float score[kItems][kItems] = {};
        add_row_products<Tile>(score, q, k);
        for (int i = 0; i < kItems; ++i) {
            float highest = -INFINITY;
            for (int j = 0; j < kItems; ++j) {
                score[i][j] =
                    head.sees(place.first_row + Tile::row(i), k0 + Tile::col(j)) ? s.scale * score[i][j] : -INFINITY;
                highest = fmaxf(highest, score[i][j]);
            }
            const float new_m = fmaxf(m[i], row_max(highest)), rescale = expf(m[i] - new_m);
            float total = 0;
            for (int j = 0; j < kItems; ++j) {
                const float e = expf(score[i][j] - new_m);
                p[Tile::weight(i, j)] = e;
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
        const std::int64_t t = place.first_row + Tile::row(i);
        if (t >= s.T) continue;
        const bool is_real = t < head.real;
        if (Tile::col(0) == 0) lse[head.row + t] = is_real ? m[i] + logf(l[i]) : 0;
        for (int j = 0; j < kCols; ++j) o[i][j] = is_real ? o[i][j] / l[i] : 0;
    }
    store_tile<Tile>(out + head.plain, head.plain_stride, place.first_row, o, s);
}

// delta (B, H, T) = rowsum(dout * out), the FlashAttention-2 algorithm 2's D. One warp a row (b, t, h).
template <class Real>
__global__ void sum_output_gradients(float* delta, const Real* dout, const Real* out, AttentionShape s) {
    const std::int64_t row = warp_row();
    if (row >= s.B * s.T * s.H) return;
    float sum = 0;
    for (std::int64_t i = warp_lane(); i < s.d; i += kWarpSize)
        sum += to_float(dout[row * s.d + i]) * to_float(out[row * s.d + i]);
    sum = warp_sum(sum);
    const std::int64_t b = row / (s.T * s.H), t = row / s.H % s.T, h = row % s.H;
    if (warp_lane() == 0) delta[(b * s.H + h) * s.T + t] = sum;
}

// Probabilities p and score gradients ds = scale p (dp - delta) of a thread's entries of a tile (queries, keys).
template <class Tile>
struct TileGradients {
    static constexpr int kItems = Tile::kRowsOfThread;
    float p[kItems][kItems] = {}, ds[kItems][kItems] = {};

    __device__ TileGradients(const float* q, const float* k, const float* dout, const float* v, const float* lse,
                             const float* delta, std::int64_t q0, std::int64_t k0, const Head& head, float scale) {
        add_row_products<Tile>(p, q, k);
        add_row_products<Tile>(ds, dout, v);
        for (int i = 0; i < kItems; ++i) {
            const std::int64_t t = q0 + Tile::row(i);
            const bool is_real = t < head.real;
            const float row_lse = is_real ? lse[t] : 0, row_delta = is_real ? delta[t] : 0;
            for (int j = 0; j < kItems; ++j) {
                const bool seen = is_real && head.sees(t, k0 + Tile::col(j));
                p[i][j] = seen ? expf(scale * p[i][j] - row_lse) : 0;
                ds[i][j] = seen ? scale * p[i][j] * (ds[i][j] - row_delta) : 0;
            }
        }
    }
};

// FlashAttention-2 algorithm 2 without atomic sums, first half: one block a tile of keys walks over the queries that
// see it. dk = ds^T q, dv = p^T dout.
template <class Real, class Tile>
__global__ void __launch_bounds__(kTileThreads)
    attention_gradient_of_keys(Real* dqkv, const Real* dout, const Real* qkv, const float* lse, const float* delta,
                               AttentionShape s) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    DEFT_DYNAMIC_SHARED(float, tiles);
    float *const k = tiles, *const v = k + Tile::kSize, *const q = v + Tile::kSize, *const dout_tile = q + Tile::kSize;
    float *const p = dout_tile + Tile::kSize, *const ds = p + Tile::kWeights;
    const TilePlace place = tile_place<Tile>(s, false);
    const Head head(s, place.head);
    load_tile<Tile>(k, qkv + head.k, head.packed_stride, place.first_row, head.real, s.d);
    load_tile<Tile>(v, qkv + head.v, head.packed_stride, place.first_row, head.real, s.d);
    float dk[kItems][kCols] = {}, dv[kItems][kCols] = {};
    const std::int64_t end = place.first_row < head.real ? head.real : 0;  // padding is seen by no query
    for (std::int64_t q0 = s.causal ? place.first_row : 0; q0 < end; q0 += Tile::kRows) {
        load_tile<Tile>(q, qkv + head.q, head.packed_stride, q0, head.real, s.d);
        load_tile<Tile>(dout_tile, dout + head.plain, head.plain_stride, q0, head.real, s.d);
        __syncthreads();
        const TileGradients<Tile> gradients(q, k, dout_tile, v, lse + head.row, delta + head.row, q0, place.first_row,
                                            head, s.scale);
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
    store_tile<Tile>(dqkv + head.k, head.packed_stride, place.first_row, dk, s);
    store_tile<Tile>(dqkv + head.v, head.packed_stride, place.first_row, dv, s);
}

// Second half: one block a tile of queries walks over the keys that it sees. dq = ds k.
template <class Real, class Tile>
__global__ void __launch_bounds__(kTileThreads)
    attention_gradient_of_queries(Real* dqkv, const Real* dout, const Real* qkv, const float* lse, const float* delta,
                                  AttentionShape s) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    DEFT_DYNAMIC_SHARED(float, tiles);
    float *const q = tiles, *const dout_tile = q + Tile::kSize, *const k = dout_tile + Tile::kSize;
    float *const v = k + Tile::kSize, *const ds = v + Tile::kSize;
    const TilePlace place = tile_place<Tile>(s, true);
    const Head head(s, place.head);
    const std::int64_t seen = keys_seen<Tile>(head, place.first_row);
    load_tile<Tile>(q, qkv + head.q, head.packed_stride, place.first_row, head.real, s.d);
    load_tile<Tile>(dout_tile, dout + head.plain, head.plain_stride, place.first_row, head.real, s.d);
    float dq[kItems][kCols] = {};
    for (std::int64_t k0 = 0; k0 < seen; k0 += Tile::kRows) {
        load_tile<Tile>(k, qkv + head.k, head.packed_stride, k0, head.real, s.d);
        load_tile<Tile>(v, qkv + head.v, head.packed_stride, k0, head.real, s.d);
        __syncthreads();
        const TileGradients<Tile> gradients(q, k, dout_tile, v, lse + head.row, delta + head.row, place.first_row, k0,
                                            head, s.scale);
        for (int i = 0; i < kItems; ++i)
            for (int j = 0; j < kItems; ++j) ds[Tile::weight(i, j)] = gradients.ds[i][j];
        __syncwarp();  // a row of ds is written and read by one half warp
        add_weighted_rows<Tile>(dq, ds, k);
        __syncthreads();  // the tiles have been read
    }
    store_tile<Tile>(dqkv + head.q, head.packed_stride, place.first_row, dq, s);
}

// f(Tile) for the smallest tile that holds a head.
template <class F>
void with_tile(std::int64_t d, const F& f) {
    if (d > kMostHeadSize)
        throw Error(ErrorKind::config,
                    "attention on CUDA takes heads of at most " + std::to_string(kMostHeadSize) + " values, not " +
                        std::to_string(d),
                    "use more heads, or the CPU");
    if (d <= 32) return f(HeadTile<64, 32>{});
    if (d <= 64) return f(HeadTile<64, 64>{});
    f(HeadTile<32, 128>{});
}

AttentionShape shape_of(std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal,
                        const std::int32_t* length) {
    return {B, T, H, d, 1.0f / std::sqrt(static_cast<float>(d)), causal, length};
}

// A block for each tile of rows of each head, with so many floats of shared memory.
template <class Tile>
Launch over_tiles(const char* kernel, const AttentionShape& s, std::int64_t shared_floats) {
    return {kernel, s.B * s.H * ceil_div(s.T, Tile::kRows), kTileThreads,
            static_cast<std::size_t>(shared_floats) * sizeof(float)};
}

}  // namespace

template <class Real>
void attention_forward(Exec& exec, Real* out, float* lse, const Real* qkv, std::int64_t B, std::int64_t T,
                       std::int64_t H, std::int64_t d, bool causal, const std::int32_t* length) {
    const AttentionShape s = shape_of(B, T, H, d, causal, length);
    with_tile(d, [&]<class Tile>(Tile) {
        launch(exec, over_tiles<Tile>("attend_queries", s, 3 * Tile::kSize + Tile::kWeights),
               attend_queries<Real, Tile>, out, lse, qkv, s);
    });
}

template <class Real>
void attention_backward(Exec& exec, Real* dqkv, const Real* dout, const Real* out, const Real* qkv, const float* lse,
                        std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t d, bool causal,
                        const std::int32_t* length) {
    require_workspace(exec, attention_backward_workspace(B, T, H), "attention_backward");
    const AttentionShape s = shape_of(B, T, H, d, causal, length);
    float* delta = scratch<float>(exec, 0);  // (B, H, T)
    with_tile(d, [&]<class Tile>(Tile) {
        launch(exec, over_rows("sum_output_gradients", B * T * H), sum_output_gradients<Real>, delta, dout, out, s);
        launch(exec, over_tiles<Tile>("attention_gradient_of_keys", s, 4 * Tile::kSize + 2 * Tile::kWeights),
               attention_gradient_of_keys<Real, Tile>, dqkv, dout, qkv, lse, delta, s);
        launch(exec, over_tiles<Tile>("attention_gradient_of_queries", s, 4 * Tile::kSize + Tile::kWeights),
               attention_gradient_of_queries<Real, Tile>, dqkv, dout, qkv, lse, delta, s);
    });
}

template void attention_forward<float>(Exec&, float*, float*, const float*, std::int64_t, std::int64_t, std::int64_t,
                                       std::int64_t, bool, const std::int32_t*);
template void attention_forward<bf16>(Exec&, bf16*, float*, const bf16*, std::int64_t, std::int64_t, std::int64_t,
                                      std::int64_t, bool, const std::int32_t*);
template void attention_backward<float>(Exec&, float*, const float*, const float*, const float*, const float*,
                                        std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool,
                                        const std::int32_t*);
template void attention_backward<bf16>(Exec&, bf16*, const bf16*, const bf16*, const bf16*, const float*, std::int64_t,
                                       std::int64_t, std::int64_t, std::int64_t, bool, const std::int32_t*);

}  // namespace deft::kernels::cuda
