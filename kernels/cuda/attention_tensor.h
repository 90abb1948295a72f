#pragma once
// Parts that the tensor-core kernels of attention share: FlashAttention-2 (Dao 2023, algorithms 1 and 2) in bf16 on
// mma.sync, for heads of a multiple of 8 values. Included by .cu sources alone.

#include <cmath>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensor_tiles.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

inline constexpr float kLog2OfE = 1.4426950408889634f;

// One head of queries of one sample and what it reads. In 32 bits where registers must hold it.
struct TensorHead {
    const bf16 *q, *k, *v;                      // the first vectors
    std::int32_t q_stride, k_stride, v_stride;  // from one row to the next
    std::int32_t b, h;
    std::int32_t queries, keys;  // without padding
    std::int32_t reach;          // query t sees keys up to t + reach

    __device__ TensorHead(const AttentionSpec& s, const AttentionHeads<const bf16>& in, std::int32_t sample,
                          std::int32_t head)
        : q(s.head(in.q, sample, head)),
          k(s.head(in.k, sample, head / s.group())),
          v(s.head(in.v, sample, head / s.group())),
          q_stride(static_cast<std::int32_t>(in.q.row_stride)),
          k_stride(static_cast<std::int32_t>(in.k.row_stride)),
          v_stride(static_cast<std::int32_t>(in.v.row_stride)),
          b(sample),
          h(head),
          queries(static_cast<std::int32_t>(s.real(sample, s.Tq))),
          keys(static_cast<std::int32_t>(s.real(sample, s.Tk))),
          reach(s.causal ? static_cast<std::int32_t>(s.offset()) : 1 << 30) {}

    // The first vector in (B, Tq, H, d) or packed rows, and the rows that are stored there.
    __device__ std::int64_t plain(const AttentionSpec& s) const { return (s.first_row(b, s.Tq) * s.H + h) * s.d; }
    __device__ std::int32_t stored(const AttentionSpec& s) const { return static_cast<std::int32_t>(s.rows(b, s.Tq)); }
    // The last key that a query sees.
    __device__ std::int32_t last_key(std::int32_t query) const {
        const std::int32_t last = query + reach;
        return last < keys ? last : keys - 1;
    }
};

// A tile of queries and its head. The blocks of one head are spread out, so that blocks that start together have the
// same work; the longest go first.
template <class Tile>
struct QueryTile {
    std::int32_t first;
    TensorHead head;

    __device__ QueryTile(const AttentionSpec& s, const AttentionHeads<const bf16>& in, unsigned block_index)
        : first(first_of(s, static_cast<std::int32_t>(block_index))),
          head(s, in, static_cast<std::int32_t>(block_index) % heads(s) / static_cast<std::int32_t>(s.H),
               static_cast<std::int32_t>(block_index) % static_cast<std::int32_t>(s.H)) {}

    static __device__ std::int32_t heads(const AttentionSpec& s) { return static_cast<std::int32_t>(s.B * s.H); }
    static __device__ std::int32_t first_of(const AttentionSpec& s, std::int32_t block) {
        const auto tiles = static_cast<std::int32_t>(ceil_div(s.Tq, Tile::kRows));
        return (s.causal ? tiles - 1 - block / heads(s) : block / heads(s)) * Tile::kRows;
    }
    // How many keys any query of the tile sees, and how many, in whole tiles, all queries see.
    __device__ std::int32_t seen() const {
        return first < head.queries ? head.last_key(first + Tile::kRows - 1) + 1 : 0;
    }
    __device__ std::int32_t unmasked() const {
        return first < head.queries ? (head.last_key(first) + 1) / Tile::kCols * Tile::kCols : 0;
    }
};

// Which probabilities a lane keeps: entry (row, 8 n + 2 (lane % 4) + i) of `queries` is bit 2 n + i. One Philox block
// gives four words, which serve keys 16 apart.
template <int kCols>
__device__ __forceinline__ std::uint32_t kept_along_keys(const AttentionDropout& dropout, std::uint32_t step,
                                                         const TensorHead& head, std::int32_t query, std::int32_t k0) {
    static_assert(AttentionDropout::kApart == 16 && AttentionDropout::kKeysOfGroup == 64 &&
                  (kCols == 32 || kCols == 64));
    const std::uint32_t threshold = dropout.threshold();
    const int first = 2 * (static_cast<int>(threadIdx.x) % 4);
    const bool is_later_half = kCols == 32 && k0 / 32 % 2 != 0;
    std::uint32_t kept = 0;
    DEFT_UNROLL
    for (int other = 0; other < 4; ++other) {  // the columns first, first + 1, first + 8, first + 9 of each 16
        const int column = first + other / 2 * 8 + other % 2;
        const PhiloxBlock block =
            dropout.block_in(step, head.b, head.h, query, AttentionDropout::block_of(k0 + column));
        DEFT_UNROLL
        for (int word = 0; word < kCols / 16; ++word) {
            const std::uint32_t drawn = is_later_half ? block.word[(word + 2) % 4] : block.word[word];
            kept |= (drawn >= threshold ? 1u : 0u) << (2 * (2 * word + other / 2) + other % 2);
        }
    }
    return kept;
}
// The same where rows are keys and columns are queries.
template <int kCols>
__device__ __forceinline__ std::uint32_t kept_along_queries(const AttentionDropout& dropout, std::uint32_t step,
                                                            const TensorHead& head, std::int32_t key, std::int32_t q0) {
    const std::uint32_t threshold = dropout.threshold();
    const int first = 2 * (static_cast<int>(threadIdx.x) % 4), word = key / 16 % 4;
    std::uint32_t kept = 0;
    for (int n = 0; n < kCols / 8; ++n)
        for (int i = 0; i < 2; ++i) {
            const PhiloxBlock block =
                dropout.block_in(step, head.b, head.h, q0 + 8 * n + first + i, AttentionDropout::block_of(key));
            const std::uint32_t drawn =
                word < 2 ? (word == 0 ? block.word[0] : block.word[1]) : (word == 2 ? block.word[2] : block.word[3]);
            kept |= (drawn >= threshold ? 1u : 0u) << (2 * n + i);
        }
    return kept;
}
__device__ __forceinline__ float keep_factor(std::uint32_t kept, int n, int i, float scale) {
    return (kept >> (2 * n + i) & 1u) != 0 ? scale : 0.0f;
}

// The first of a tile's rows that this lane has a part of.
template <class Tile>
__device__ inline std::int32_t first_row_of_lane() {
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    return 16 * Tile::kUp * (thread / 32) + thread % 32 / 4;
}

// A kernel's tile: kUp times 16 rows a warp, and kCols columns that are worked on at a time. Two stages of columns are
// in shared memory: one that is read, one that arrives.
template <int kWidthOfHead, int kUpRows, int kColsAtOnce, int kWarpCount, bool kDrops,
          RowsOfTile kRowsAre = RowsOfTile::in_registers>
struct TensorTile {
    static constexpr int kWidth = kWidthOfHead, kUp = kUpRows, kCols = kColsAtOnce, kWarps = kWarpCount;
    static constexpr bool kDropout = kDrops;
    using Rows = WarpRows<kWidth, kUp, kRowsAre>;
    using Copier = TileCopier<kWidth, 32 * kWarps>;
    static constexpr int kRows = 16 * kUp * kWarps, kThreads = 32 * kWarps, kStages = 2;
    static constexpr int kRowValues = kRows * kWidth, kStageValues = kCols * kWidth;  // of shared memory
    static constexpr int kBlocks = 8 / kWarps;                                        // a multiprocessor, at least
};

// The keys and values of a head, which arrive tile by tile in two stages of shared memory.
template <class Tile>
struct KeyValueTiles {
    SharedAddress k_tiles, v_tiles;
    const bf16 *keys, *values;  // the next tile, this thread's part
    std::int32_t left;

    __device__ KeyValueTiles(SharedAddress shared, const TensorHead& head, const typename Tile::Copier& copier,
                             std::int32_t seen, std::int32_t width)
        : k_tiles(shared),
          v_tiles(shared + Tile::kStages * Tile::kStageValues),
          keys(copier.own(head.k, head.k_stride)),
          values(copier.own(head.v, head.v_stride)),
          left(copier.rows_left(seen, width)) {}

    __device__ SharedAddress k_tile(int stage) const { return k_tiles + stage * Tile::kStageValues; }
    __device__ SharedAddress v_tile(int stage) const { return v_tiles + stage * Tile::kStageValues; }

    __device__ __forceinline__ void fetch(AsyncCopies& copies, const TensorHead& head,
                                          const typename Tile::Copier& copier, int stage) {
        copier.template copy<Tile::kCols>(copies, k_tile(stage), keys, head.k_stride, left);
        copier.template copy<Tile::kCols>(copies, v_tile(stage), values, head.v_stride, left);
        copies.commit();
        keys += Tile::kCols * head.k_stride;
        values += Tile::kCols * head.v_stride;
        left -= Tile::kCols;
    }
};

}  // namespace deft::kernels::cuda
