#include "kernels/cuda/attention_on_tensor_cores.h"

#include <type_traits>

#include "kernels/cuda/attention_tensor.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// The backward kernels' statistics of rows, both (B, H, rows) with rows = padded_queries(Tq): lse log2(e), infinite in
// padding, and delta = -rowsum(dout out), the negative D of FlashAttention-2's algorithm 2. A tile's arrive in copies
// of 16 bytes.
struct RowStatistics {
    float* lse;
    std::int32_t to_delta, rows;  // to_delta: distance from a row's lse to its delta, in values

    __device__ std::int64_t first_of(const AttentionSpec& s, std::int32_t b, std::int32_t h) const {
        return (std::int64_t{b} * s.H + h) * rows;
    }
};

// The statistics of a tile's queries, by kWidth / 8 lanes a row.
template <class Tile>
__device__ inline void write_row_statistics(const RowStatistics& statistics, const float* lse, const bf16* dout,
                                            const bf16* out, const AttentionSpec& s, const TensorHead& head,
                                            std::int32_t first) {
    constexpr int kLanes = Tile::kWidth / kPiece, kRowsAtOnce = Tile::kThreads / kLanes;
    static_assert(Tile::kRows % kRowsAtOnce == 0);
    const int thread = static_cast<int>(threadIdx.x), piece = thread % kLanes * kPiece;
    const std::int64_t statistic = statistics.first_of(s, head.b, head.h);
    DEFT_UNROLL
    for (int next = 0; next < Tile::kRows; next += kRowsAtOnce) {
        const std::int32_t t = first + next + thread / kLanes;
        const bool is_real = t < head.queries;
        float sum = 0;
        if (is_real && piece < s.d) {
            const std::int64_t at = head.plain(s) + t * s.H * s.d + piece;
            float gradient[kPiece], value[kPiece];
            load(gradient, dout + at);
            load(value, out + at);
            for (int i = 0; i < kPiece; ++i) sum += gradient[i] * value[i];
        }
        for (int distance = kLanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(kWholeWarp, sum, distance);
        if (piece != 0) continue;
        float* const to = statistics.lse + statistic + t;
        to[0] = is_real ? lse[(std::int64_t{head.b} * s.H + head.h) * s.Tq + t] * kLog2OfE : INFINITY;
        to[statistics.to_delta] = -sum;
    }
}

// Algorithm 2 without atomic sums, first half: one block a tile of queries walks over the keys that it sees. dq = ds k.
// It leaves the statistics of its rows to the second half.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    query_gradients_on_tensor_cores(HeadRows<bf16> dq_rows, RowStatistics statistics, const bf16* dout, const bf16* out,
                                    AttentionHeads<const bf16> in, const float* head_lse, AttentionSpec s,
                                    float score_scale) {
    constexpr int kUp = Tile::kUp, kCols = Tile::kCols, kWidth = Tile::kWidth;
    DEFT_DYNAMIC_SHARED(bf16, shared);
    const SharedAddress q_tile = shared_address(shared), dout_tile = q_tile + Tile::kRowValues;
    [[maybe_unused]] const auto training_step = Tile::kDropout ? static_cast<std::uint32_t>(s.dropout.step.get()) : 0;
    const QueryTile<Tile> tile(s, in, blockIdx.x);
    const TensorHead& head = tile.head;
    const std::int32_t first = tile.first, seen = tile.seen(), unmasked = tile.unmasked();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int32_t first_of_warp = first + 16 * kUp * (static_cast<std::int32_t>(threadIdx.x) / 32);
    const std::int32_t row = first_of_warp + lane / 4, column = 2 * (lane % 4);
    const FragmentPlaces<kWidth> at;
    const typename Tile::Copier copier;
    const auto width = static_cast<std::int32_t>(s.d);
    const auto dout_stride = static_cast<std::int32_t>(s.H * s.d);
    AsyncCopies copies;
    copier.template copy_rows<Tile::kRows>(copies, q_tile, head.q + std::int64_t{first} * head.q_stride, head.q_stride,
                                           head.queries - first, width);
    copier.template copy_rows<Tile::kRows>(copies, dout_tile, dout + head.plain(s) + std::int64_t{first} * dout_stride,
                                           dout_stride, head.queries - first, width);
    copies.commit();
    KeyValueTiles<Tile> tiles(dout_tile + Tile::kRowValues, head, copier, seen, width);
    tiles.fetch(copies, head, copier, 0);
    write_row_statistics<Tile>(statistics, head_lse, dout, out, s, head, first);
    float dq[kUp][kWidth / 8][4] = {};
    // Statistics of this lane's rows; padding has them too.
    const float* const lse = statistics.lse + statistics.first_of(s, head.b, head.h) + row;
    const int rows_of_warp = (first_of_warp - first) * kWidth;
    typename Tile::Rows q(q_tile + rows_of_warp), d(dout_tile + rows_of_warp);
    if constexpr (Tile::Rows::kKept) {
        copies.template wait<1>();
        __syncthreads();
        q.keep(at);
        d.keep(at);
    }
    const float scale = score_scale * kLog2OfE;
    int stage = 0;
    std::int32_t k0 = 0;
    const auto step = [&](auto masked) {
        constexpr bool kMasks = decltype(masked)::value;
        copies.template wait<0>();
        __syncthreads();
        const SharedAddress k_tile = tiles.k_tile(stage), v_tile = tiles.v_tile(stage);
        stage ^= 1;
        if (k0 + kCols < seen) tiles.fetch(copies, head, copier, stage);
        // No row of this warp may see the tile.
        if (kMasks && s.causal && k0 > first_of_warp + 16 * kUp - 1 + head.reach) return;
        float p[kUp][kCols / 8][4] = {}, ds[kUp][kCols / 8][4];
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) DEFT_UNROLL
        for (int n = 0; n < kCols / 8; ++n) DEFT_UNROLL
        for (int i = 0; i < 4; ++i) ds[u][n][i] = Tile::kDropout ? 0.0f : lse[statistics.to_delta + 16 * u + i / 2 * 8];
        add_rows_products<kCols>(p, q, k_tile, at);
        add_rows_products<kCols>(ds, d, v_tile, at);
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) DEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
            [[maybe_unused]] const std::int32_t last_key = head.last_key(row + 16 * u + 8 * j);
            [[maybe_unused]] std::uint32_t kept = 0;
            if constexpr (Tile::kDropout)
                kept = kept_along_keys<kCols>(s.dropout, training_step, head, row + 16 * u + 8 * j, k0);
            DEFT_UNROLL
            for (int n = 0; n < kCols / 8; ++n) DEFT_UNROLL
            for (int i = 0; i < 2; ++i) {
                float e = exp2_approximate(p[u][n][2 * j + i] * scale - lse[16 * u + 8 * j]);
                if (kMasks && k0 + 8 * n + column + i > last_key) e = 0;
                float& gradient = ds[u][n][2 * j + i];
                if constexpr (Tile::kDropout)
                    gradient = keep_factor(kept, n, i, s.dropout.scale()) * gradient +
                               lse[statistics.to_delta + 16 * u + 8 * j];
                gradient *= e;
            }
        }
        add_weighted_rows<kWidth, kUp, kCols>(dq, ds, k_tile, at);
    };
    for (; k0 < unmasked; k0 += kCols) step(std::false_type{});
    for (; k0 < seen; k0 += kCols) step(std::true_type{});
    copies.template wait<0>();
    const QueryTile<Tile> again(s, in, reread_block_index());
    bf16* const dq_head = s.head(dq_rows, again.head.b, again.head.h);
    DEFT_UNROLL
    for (int u = 0; u < kUp; ++u)
        store_fragments<kWidth>(dq_head, static_cast<int>(dq_rows.row_stride),
                                again.first + first_row_of_lane<Tile>() + 16 * u, dq[u], score_scale, score_scale,
                                again.head.stored(s), width);
}

// The keys of a block: all heads of the first tile, then those of the next.
struct KeyTile {
    std::int32_t first, b, key_head;

    __device__ KeyTile(const AttentionSpec& s, unsigned block_index, std::int32_t rows) {
        const auto block = static_cast<std::int32_t>(block_index), Hkv = static_cast<std::int32_t>(s.Hkv);
        const auto heads = static_cast<std::int32_t>(s.B) * Hkv;
        first = block / heads * rows;
        b = block % heads / Hkv;
        key_head = block % Hkv;
    }
};

// Second half: one block a tile of keys walks over the queries that see it, head after head of those that share it.
// Scores are transposed, (keys, queries), so that they are first factors as they are: dk = ds^T q, dv = p^T dout.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    key_gradients_on_tensor_cores(HeadRows<bf16> dk_rows, HeadRows<bf16> dv_rows, const bf16* dout,
                                  AttentionHeads<const bf16> in, RowStatistics statistics, AttentionSpec s,
                                  float score_scale) {
    constexpr int kUp = Tile::kUp, kCols = Tile::kCols, kWidth = Tile::kWidth;
    DEFT_DYNAMIC_SHARED(bf16, shared);
    const SharedAddress k_tile = shared_address(shared), v_tile = k_tile + Tile::kRowValues,
                        q_tiles = v_tile + Tile::kRowValues, dout_tiles = q_tiles + Tile::kStages * Tile::kStageValues,
                        statistic_tiles = dout_tiles + Tile::kStages * Tile::kStageValues;
    constexpr int kStatistics = 2 * 2 * kCols;  // values of two bytes a stage: lse and delta of the tile's queries
    [[maybe_unused]] const auto training_step = Tile::kDropout ? static_cast<std::uint32_t>(s.dropout.step.get()) : 0;
    const KeyTile tile(s, blockIdx.x, Tile::kRows);
    const std::int32_t first = tile.first;
    TensorHead head(s, in, tile.b, tile.key_head * static_cast<std::int32_t>(s.group()));
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const std::int32_t first_of_warp = first + 16 * kUp * (thread / 32);
    const std::int32_t key = first_of_warp + lane / 4, column = 2 * (lane % 4);
    const FragmentPlaces<kWidth> at;
    const typename Tile::Copier copier;
    const auto width = static_cast<std::int32_t>(s.d);
    AsyncCopies copies;
    copier.template copy_rows<Tile::kRows>(copies, k_tile, head.k + std::int64_t{first} * head.k_stride, head.k_stride,
                                           head.keys - first, width);
    copier.template copy_rows<Tile::kRows>(copies, v_tile, head.v + std::int64_t{first} * head.v_stride, head.v_stride,
                                           head.keys - first, width);
    copies.commit();
    const std::int32_t end = first < head.keys ? head.queries : 0;  // padding is seen by no query
    const std::int32_t first_seen = first > head.reach ? first - head.reach : 0;
    // Queries from `unmasked` on see every key of the block.
    const std::int32_t last_of_block = first + Tile::kRows - 1;
    const std::int32_t all_seen = last_of_block > head.reach ? last_of_block - head.reach : 0;
    const std::int32_t unmasked = last_of_block >= head.keys || all_seen > end ? end : all_seen;
    const auto dout_stride = static_cast<std::int32_t>(s.H * s.d);
    // The next tile of queries, gradients of the output and statistics, this thread's part.
    const bf16 *queries = nullptr, *gradients = nullptr;
    const float* row_statistics = nullptr;
    int left = 0;
    const auto fetch = [&](int stage) {
        copier.template copy<kCols>(copies, q_tiles + stage * Tile::kStageValues, queries, head.q_stride, left);
        copier.template copy<kCols>(copies, dout_tiles + stage * Tile::kStageValues, gradients, dout_stride, left);
        if (thread < kCols / 2)
            copies.copy_16_bytes(statistic_tiles + (stage * kStatistics + 8 * thread), row_statistics, true);
        copies.commit();
        queries += kCols * head.q_stride;
        gradients += kCols * dout_stride;
        row_statistics += kCols;
        left -= kCols;
    };
    float dk[kUp][kWidth / 8][4] = {}, dv[kUp][kWidth / 8][4] = {};
    const int rows_of_warp = (first_of_warp - first) * kWidth;
    typename Tile::Rows k(k_tile + rows_of_warp), v(v_tile + rows_of_warp);
    const float scale = score_scale * kLog2OfE;
    int stage = 0;
    std::int32_t q0 = 0;
    const auto step = [&](auto masked) {
        constexpr bool kMasks = decltype(masked)::value;
        copies.template wait<0>();
        __syncthreads();
        const SharedAddress q_tile = q_tiles + stage * Tile::kStageValues,
                            dout_tile = dout_tiles + stage * Tile::kStageValues,
                            of_queries = statistic_tiles + (stage * kStatistics + 2 * column);
        stage ^= 1;
        if (q0 + kCols < end) fetch(stage);
        if (kMasks && s.causal && q0 + kCols - 1 + head.reach < first_of_warp) return;  // no key of this warp is seen
        float p[kUp][kCols / 8][4] = {}, ds[kUp][kCols / 8][4];
        DEFT_UNROLL
        for (int n = 0; n < kCols / 8; ++n) {
            float delta[2] = {};
            if constexpr (!Tile::kDropout) load_pair(delta[0], delta[1], of_queries + 2 * (kCols + 8 * n));
            DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) DEFT_UNROLL
            for (int i = 0; i < 4; ++i) ds[u][n][i] = delta[i % 2];
        }
        add_rows_products<kCols>(p, k, q_tile, at);
        [[maybe_unused]] std::int32_t first_query[kUp][2];  // that sees a row's key
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) DEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
            const std::int32_t own = key + 16 * u + 8 * j;
            first_query[u][j] = own < head.keys ? own - head.reach : end;
        }
        DEFT_UNROLL
        for (int n = 0; n < kCols / 8; ++n) {
            float lse[2];
            load_pair(lse[0], lse[1], of_queries + 16 * n);
            DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) DEFT_UNROLL
            for (int i = 0; i < 4; ++i) {
                p[u][n][i] = exp2_approximate(p[u][n][i] * scale - lse[i % 2]);
                if (kMasks && q0 + 8 * n + column + i % 2 < first_query[u][i / 2]) p[u][n][i] = 0;
            }
        }
        add_rows_products<kCols>(ds, v, dout_tile, at);
        if constexpr (Tile::kDropout) {
            const float keep_scale = s.dropout.scale();
            DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) DEFT_UNROLL
            for (int j = 0; j < 2; ++j) {
                const std::uint32_t kept =
                    kept_along_queries<kCols>(s.dropout, training_step, head, key + 16 * u + 8 * j, q0);
                DEFT_UNROLL
                for (int n = 0; n < kCols / 8; ++n) {
                    float delta[2];
                    load_pair(delta[0], delta[1], of_queries + 2 * (kCols + 8 * n));
                    DEFT_UNROLL
                    for (int i = 0; i < 2; ++i) {
                        const float factor = keep_factor(kept, n, i, keep_scale);
                        float &weight = p[u][n][2 * j + i], &gradient = ds[u][n][2 * j + i];
                        gradient = weight * (factor * gradient + delta[i]);
                        weight *= factor;
                    }
                }
            }
            add_weighted_rows<kWidth, kUp, kCols>(dv, p, dout_tile, at);
        } else {
            add_weighted_rows<kWidth, kUp, kCols>(dv, p, dout_tile, at);
            DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) DEFT_UNROLL
            for (int n = 0; n < kCols / 8; ++n) DEFT_UNROLL
            for (int i = 0; i < 4; ++i) ds[u][n][i] *= p[u][n][i];
        }
        add_weighted_rows<kWidth, kUp, kCols>(dk, ds, q_tile, at);
    };
    const std::int32_t q_first = first_seen / kCols * kCols;
    std::int32_t heads_done = 0;
    const auto begin_head = [&] {
        const KeyTile now(s, reread_block_index(), Tile::kRows);
        head = TensorHead(s, in, now.b, now.key_head * static_cast<std::int32_t>(s.group()) + heads_done);
        queries = copier.own(head.q + std::int64_t{q_first} * head.q_stride, head.q_stride);
        gradients = copier.own(dout + head.plain(s) + std::int64_t{q_first} * dout_stride, dout_stride);
        // The first quarter of a tile's threads copies four values of lse each, the next those of delta.
        row_statistics = statistics.lse + statistics.first_of(s, now.b, head.h) + q_first + thread % (kCols / 4) * 4 +
                         (thread < kCols / 4 ? 0 : statistics.to_delta);
        left = copier.rows_left(end - q_first, width);
        q0 = q_first;
        fetch(stage);  // which nobody reads now: the last step read the other
    };
    if (q_first < end) begin_head();
    if (Tile::Rows::kKept && q_first < end) {
        copies.template wait<1>();
        __syncthreads();
        k.keep(at);
        v.keep(at);
    }
    while (q_first < end) {
        for (; q0 < unmasked; q0 += kCols) step(std::true_type{});
        for (; q0 < end; q0 += kCols) step(std::false_type{});
        if (++heads_done == static_cast<std::int32_t>(s.group())) break;
        begin_head();
    }
    copies.template wait<0>();
    const KeyTile again(s, reread_block_index(), Tile::kRows);
    const std::int32_t first_row = again.first + first_row_of_lane<Tile>();
    const auto stored = static_cast<std::int32_t>(s.rows(again.b, s.Tk));
    bf16* const dk_head = s.head(dk_rows, again.b, again.key_head);
    bf16* const dv_head = s.head(dv_rows, again.b, again.key_head);
    DEFT_UNROLL
    for (int u = 0; u < kUp; ++u) {
        const std::int32_t row = first_row + 16 * u;
        store_fragments<kWidth>(dk_head, static_cast<int>(dk_rows.row_stride), row, dk[u], score_scale, score_scale,
                                stored, width);
        store_fragments<kWidth>(dv_head, static_cast<int>(dv_rows.row_stride), row, dv[u], 1, 1, stored, width);
    }
}

// The tiles of keys and of queries.
template <class OfKeys, class OfQueries>
void differentiate(Exec& exec, const AttentionHeads<bf16>& gradients, const bf16* dout, const bf16* out,
                   const AttentionHeads<const bf16>& in, const float* lse, const AttentionSpec& s) {
    const std::int64_t padded = padded_queries(s.Tq), rows = s.B * s.H * padded;
    const RowStatistics statistics{scratch<float>(exec, 0), static_cast<std::int32_t>(rows),
                                   static_cast<std::int32_t>(padded)};
    static_assert(OfQueries::kRows % OfKeys::kCols == 0);  // all statistics that the second half reads are written
    const float score_scale = 1.0f / std::sqrt(static_cast<float>(s.d));
    constexpr std::size_t kQueryShared =
        sizeof(bf16) * (2 * OfQueries::kRowValues + 2 * OfQueries::kStages * OfQueries::kStageValues);
    launch(exec,
           {"query_gradients_on_tensor_cores", s.B * s.H * ceil_div(s.Tq, OfQueries::kRows), OfQueries::kThreads,
            kQueryShared},
           query_gradients_on_tensor_cores<OfQueries>, gradients.q, statistics, dout, out, in, lse, s, score_scale);
    constexpr std::size_t kKeyShared =
        sizeof(bf16) * (2 * OfKeys::kRowValues + 2 * OfKeys::kStages * OfKeys::kStageValues) +
        sizeof(float) * 2 * OfKeys::kStages * OfKeys::kCols;
    launch(exec,
           {"key_gradients_on_tensor_cores", s.B * s.Hkv * ceil_div(s.Tk, OfKeys::kRows), OfKeys::kThreads, kKeyShared},
           key_gradients_on_tensor_cores<OfKeys>, gradients.k, gradients.v, dout, in, statistics, s, score_scale);
}

}  // namespace

void attention_backward_on_tensor_cores(Exec& exec, const AttentionHeads<bf16>& gradients, const bf16* dout,
                                        const bf16* out, const AttentionHeads<const bf16>& in, const float* lse,
                                        const AttentionSpec& s) {
    constexpr RowsOfTile keeps = RowsOfTile::in_registers, reads = RowsOfTile::in_shared_memory;
    const auto run = [&]<class OfKeys, class OfQueries>(OfKeys, OfQueries) {
        differentiate<OfKeys, OfQueries>(exec, gradients, dout, out, in, lse, s);
    };
    const bool drops = s.dropout.p != 0;
    if (s.d <= 64 && !drops)
        run(TensorTile<64, 1, 64, 4, false, keeps>{}, TensorTile<64, 2, 64, 4, false, reads>{});
    else if (s.d <= 64)
        run(TensorTile<64, 1, 32, 4, true, reads>{}, TensorTile<64, 1, 64, 4, true, reads>{});
    else if (!drops)
        run(TensorTile<128, 1, 32, 4, false, reads>{}, TensorTile<128, 1, 32, 4, false, keeps>{});
    else
        run(TensorTile<128, 1, 32, 4, true, reads>{}, TensorTile<128, 1, 32, 4, true, reads>{});
}

}  // namespace deft::kernels::cuda
