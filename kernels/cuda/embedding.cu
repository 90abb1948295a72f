#include "kernels/cuda/cuda.h"

#include <array>
#include <cmath>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

template <class Real, int kWidth>
__global__ void embed_tokens(Real* out, const std::int32_t* token, const Real* wte, const Real* wpe, std::int64_t rows,
                             std::int64_t T, std::int64_t C, std::int64_t V) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    const std::int64_t id = token[row];
    const bool known = id >= 0 && id < V;
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float sum[kWidth] = {}, position[kWidth];
        if (known) load(sum, wte + id * C + c);
        load(position, wpe + row % T * C + c);
        for (int i = 0; i < kWidth; ++i) sum[i] = known ? sum[i] + position[i] : NAN;
        store(out + row * C + c, sum);
    }
}

// The gradient of wte without atomic sums: positions are grouped by token, in order, and each group is summed by one
// block. What is known of each of n positions:
struct Groups {
    std::int32_t* leader;  // (n) the first position of the same token
    std::int32_t* rank;    // (n) how many earlier positions have it
    std::int32_t* count;   // (n) how many positions have it
    std::int32_t* start;   // (n) of leaders: where the group begins in `order`
    std::int32_t* order;   // (n) positions, group after group

    Groups(const Exec& exec, std::int64_t n) {
        std::size_t offset = 0;
        for (std::int32_t** part : std::array<std::int32_t**, kFactsOfPosition>{&leader, &rank, &count, &start, &order}) {
            *part = scratch<std::int32_t>(exec, offset);
            offset += scratch_bytes<std::int32_t>(n);
        }
    }
};

constexpr int kRankThreads = 128;

// leader, rank and count, by comparing every token with every other: n^2 integer comparisons. All threads read the same
// token at a time, from the cache.
__global__ void rank_tokens(Groups groups, const std::int32_t* token, std::int64_t n) {
    const std::int64_t position = static_cast<std::int64_t>(blockIdx.x) * kRankThreads + threadIdx.x;
    if (position >= n) return;
    const std::int32_t id = token[position];
    std::int32_t leader = -1, rank = 0, count = 0;
    for (std::int64_t other = 0; other < n; ++other) {
        if (token[other] != id) continue;
        if (count == 0) leader = static_cast<std::int32_t>(other);
        if (other < position) ++rank;
        ++count;
    }
    groups.leader[position] = leader;
    groups.rank[position] = rank;
    groups.count[position] = count;
}

// start: the sum of the counts of earlier leaders. One block, whose threads take neighbouring segments.
__global__ void start_groups(Groups groups, std::int64_t n) {
    const std::int64_t segment = ceil_div(n, blockDim.x), first = threadIdx.x * segment;
    const std::int64_t end = first + segment < n ? first + segment : n;
    std::int32_t total = 0;
    for (std::int64_t i = first; i < end; ++i)
        if (groups.rank[i] == 0) total += groups.count[i];
    std::int32_t start = block_prefix(total).before;
    for (std::int64_t i = first; i < end; ++i) {
        if (groups.rank[i] != 0) continue;
        groups.start[i] = start;
        start += groups.count[i];
    }
}

__global__ void order_positions(Groups groups, std::int64_t n) {
    for (std::int64_t i = first_item(); i < n; i += item_stride())
        groups.order[groups.start[groups.leader[i]] + groups.rank[i]] = static_cast<std::int32_t>(i);
}

// A block sums the group of one leader: 32 columns at a time, its 8 warps taking every eighth row.
template <class Real>
__global__ void add_token_rows(float* dwte, const Real* dout, const std::int32_t* token, Groups groups,
                               std::int64_t C) {
    const std::int64_t position = blockIdx.x;
    if (groups.rank[position] != 0) return;
    const std::int32_t* rows = groups.order + groups.start[position];  // (count)
    const std::int32_t count = groups.count[position];
    float* out = dwte + token[position] * C;
    const int lane = warp_lane(), warp = static_cast<int>(threadIdx.x) / kWarpSize;
    DEFT_SHARED(float, sums, kRowsOfBlock* kWarpSize);  // (warp, lane)
    for (std::int64_t first = 0; first < C; first += kWarpSize) {
        const std::int64_t c = first + lane;
        float sum = 0;
        for (std::int32_t i = warp; c < C && i < count; i += kRowsOfBlock) sum += to_float(dout[rows[i] * C + c]);
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int other = 1; warp == 0 && other < kRowsOfBlock; ++other) sum += sums[other * kWarpSize + lane];
        if (warp == 0 && c < C) out[c] += sum;
        __syncthreads();  // the sums have been read
    }
}

// dwpe (max_T, C) = or += sums over the B samples of dout (B, T, C).
template <class Real>
__global__ void sum_positions(float* dwpe, const Real* dout, std::int64_t B, std::int64_t T, std::int64_t C,
                              std::int64_t max_T, bool adds) {
    for (std::int64_t i = first_item(); i < max_T * C; i += item_stride()) {
        float sum = adds ? dwpe[i] : 0.0f;
        for (std::int64_t b = 0; i < T * C && b < B; ++b) sum += to_float(dout[b * T * C + i]);
        dwpe[i] = sum;
    }
}

}  // namespace

template <class Real>
void embedding_forward(Exec& exec, Real* out, const std::int32_t* token, const Real* wte, const Real* wpe,
                       std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t V) {
    with_width<Real>(rows_are_wide<Real>(C, out, wte, wpe), [&](auto width) {
        launch(exec, over_rows("embed_tokens", B * T), embed_tokens<Real, width>, out, token, wte, wpe, B * T, T, C, V);
    });
}

template <class Real>
void embedding_backward(Exec& exec, float* dwte, float* dwpe, const Real* dout, const std::int32_t* token,
                        std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t max_T, Accumulate accumulate) {
    require_workspace(exec, embedding_backward_workspace(B, T), "embedding_backward");
    const std::int64_t n = B * T;
    const Groups groups(exec, n);
    launch(exec, {"rank_tokens", ceil_div(n, kRankThreads), kRankThreads}, rank_tokens, groups, token, n);
    launch(exec, {"start_groups", n == 0 ? 0 : 1, 256}, start_groups, groups, n);
    launch(exec, over_items("order_positions", n), order_positions, groups, n);
    launch(exec, {"add_token_rows", n, kRowsOfBlock * kWarpSize}, add_token_rows<Real>, dwte, dout, token, groups, C);
    launch(exec, over_items("sum_positions", max_T * C), sum_positions<Real>, dwpe, dout, B, T, C, max_T,
           accumulate == Accumulate::yes);
}

template void embedding_forward<float>(Exec&, float*, const std::int32_t*, const float*, const float*, std::int64_t,
                                       std::int64_t, std::int64_t, std::int64_t);
template void embedding_forward<bf16>(Exec&, bf16*, const std::int32_t*, const bf16*, const bf16*, std::int64_t,
                                      std::int64_t, std::int64_t, std::int64_t);
template void embedding_backward<float>(Exec&, float*, float*, const float*, const std::int32_t*, std::int64_t,
                                        std::int64_t, std::int64_t, std::int64_t, Accumulate);
template void embedding_backward<bf16>(Exec&, float*, float*, const bf16*, const std::int32_t*, std::int64_t,
                                       std::int64_t, std::int64_t, std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
