#include "kernels/cuda/attention_on_tensor_cores.h"

#include <type_traits>

#include "kernels/cuda/attention_tensor.h"

namespace deft::kernels::cuda {

namespace {

// FlashAttention-2 algorithm 1: one block a tile of queries. Each lane holds, of its rows, the running maximum of the
// scores, its part of the sum of their exponentials, and its columns of the output.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    attend_on_tensor_cores(bf16* out, float* lse, AttentionHeads<const bf16> in, AttentionSpec s, float score_scale) {
    constexpr int kUp = Tile::kUp, kCols = Tile::kCols, kWidth = Tile::kWidth;
    DEFT_DYNAMIC_SHARED(bf16, shared);
    const SharedAddress q_tile = shared_address(shared);
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
    AsyncCopies copies;
    copier.template copy_rows<Tile::kRows>(copies, q_tile, head.q + std::int64_t{first} * head.q_stride, head.q_stride,
                                           head.queries - first, width);
    copies.commit();
    KeyValueTiles<Tile> tiles(q_tile + Tile::kRowValues, head, copier, seen, width);
    tiles.fetch(copies, head, copier, 0);
    float highest[kUp][2], total[kUp][2] = {}, o[kUp][kWidth / 8][4] = {};
    DEFT_UNROLL
    for (int u = 0; u < kUp; ++u) highest[u][0] = highest[u][1] = -INFINITY;
    typename Tile::Rows q(q_tile + (first_of_warp - first) * kWidth);
    copies.template wait<1>();
    __syncthreads();
    q.keep(at);
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
        float p[kUp][kCols / 8][4] = {};
        add_rows_products<kCols>(p, q, k_tile, at);
        if constexpr (kMasks) {
            DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) DEFT_UNROLL
            for (int n = 0; n < kCols / 8; ++n) DEFT_UNROLL
            for (int i = 0; i < 4; ++i)
                if (k0 + 8 * n + column + i % 2 > head.last_key(row + 16 * u + i / 2 * 8)) p[u][n][i] = -INFINITY;
        }
        bool rises = false;
        float rescale[kUp][2];
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) DEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
            float most = highest[u][j];
            DEFT_UNROLL
            for (int n = 0; n < kCols / 8; ++n) most = fmaxf(most, fmaxf(p[u][n][2 * j], p[u][n][2 * j + 1]));
            most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 1));
            most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 2));
            rises = rises || most != highest[u][j];
            rescale[u][j] = exp2_approximate((highest[u][j] - most) * scale);
            highest[u][j] = most;
        }
        if (__ballot_sync(kWholeWarp, rises) != 0) {
            DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) {
                total[u][0] *= rescale[u][0];
                total[u][1] *= rescale[u][1];
                DEFT_UNROLL
                for (int n = 0; n < kWidth / 8; ++n) DEFT_UNROLL
                for (int i = 0; i < 4; ++i) o[u][n][i] *= rescale[u][i / 2];
            }
        }
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) DEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
            const float offset = highest[u][j] * scale;
            DEFT_UNROLL
            for (int n = 0; n < kCols / 8; ++n) {
                float(&pair)[4] = p[u][n];
                pair[2 * j] = exp2_approximate(pair[2 * j] * scale - offset);
                pair[2 * j + 1] = exp2_approximate(pair[2 * j + 1] * scale - offset);
                total[u][j] += pair[2 * j] + pair[2 * j + 1];
            }
            if constexpr (Tile::kDropout) {
                const float keep_scale = s.dropout.scale();
                const std::uint32_t kept =
                    kept_along_keys<kCols>(s.dropout, training_step, head, row + 16 * u + 8 * j, k0);
                DEFT_UNROLL
                for (int n = 0; n < kCols / 8; ++n) DEFT_UNROLL
                for (int i = 0; i < 2; ++i) p[u][n][2 * j + i] *= keep_factor(kept, n, i, keep_scale);
            }
        }
        add_weighted_rows<kWidth, kUp, kCols>(o, p, v_tile, at);
    };
    for (; k0 < unmasked; k0 += kCols) step(std::false_type{});
    for (; k0 < seen; k0 += kCols) step(std::true_type{});
    copies.template wait<0>();
    const QueryTile<Tile> again(s, in, reread_block_index());
    const std::int32_t stored = again.head.stored(s), first_row = again.first + first_row_of_lane<Tile>();
    bf16* const out_rows = out + again.head.plain(s);
    float* const lse_rows = lse + (std::int64_t{again.head.b} * s.H + again.head.h) * s.Tq;
    DEFT_UNROLL
    for (int u = 0; u < kUp; ++u) {
        float factor[2];
        DEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
            const std::int32_t query = first_row + 16 * u + 8 * j;
            float sum = total[u][j];
            sum += __shfl_xor_sync(kWholeWarp, sum, 1);
            sum += __shfl_xor_sync(kWholeWarp, sum, 2);
            const bool is_real = query < again.head.queries;
            factor[j] = is_real ? 1 / sum : 0;
            if (threadIdx.x % 4 == 0 && query < s.Tq)
                lse_rows[query] = is_real ? highest[u][j] * score_scale + logf(sum) : 0;
        }
        store_fragments<kWidth>(out_rows, static_cast<int>(s.H * s.d), first_row + 16 * u, o[u], factor[0], factor[1],
                                stored, width);
    }
}

template <class Tile>
void attend(Exec& exec, bf16* out, float* lse, const AttentionHeads<const bf16>& in, const AttentionSpec& s) {
    constexpr std::size_t kShared = sizeof(bf16) * (Tile::kRowValues + 2 * Tile::kStages * Tile::kStageValues);
    launch(exec, {"attend_on_tensor_cores", s.B * s.H * ceil_div(s.Tq, Tile::kRows), Tile::kThreads, kShared},
           attend_on_tensor_cores<Tile>, out, lse, in, s, 1.0f / std::sqrt(static_cast<float>(s.d)));
}

}  // namespace

void attention_forward_on_tensor_cores(Exec& exec, bf16* out, float* lse, const AttentionHeads<const bf16>& in,
                                       const AttentionSpec& s) {
    const bool drops = s.dropout.p != 0;
    if (s.d <= 64)
        drops ? attend<TensorTile<64, 1, 64, 4, true>>(exec, out, lse, in, s)
              : attend<TensorTile<64, 2, 64, 4, false>>(exec, out, lse, in, s);
    else
        drops ? attend<TensorTile<128, 1, 32, 4, true>>(exec, out, lse, in, s)
              : attend<TensorTile<128, 1, 64, 8, false>>(exec, out, lse, in, s);
}

}  // namespace deft::kernels::cuda
