#include "kernels/cuda/sorted_ids.h"

#include <utility>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// A radix sort, least significant digit first: each pass moves ids to where their digit's begin, in their order.
constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits, kWarps = 8, kThreads = kWarps * kWarpSize;
static_assert(kThreads == kDigits, "a thread takes a digit");

__device__ inline int digit_of(std::int32_t id, int shift) {
    return (id >> shift) & (kDigits - 1);
}

// count (tiles, kDigits) of each digit among the ids of each tile.
__global__ void count_digits(std::int32_t* count, const std::int32_t* ids, std::int64_t n, std::int64_t tile_ids,
                             int shift) {
    DEFT_SHARED(std::int32_t, of_tile, kDigits);
    of_tile[threadIdx.x] = 0;
    __syncthreads();
    const std::int64_t first = blockIdx.x * tile_ids, end = first + tile_ids < n ? first + tile_ids : n;
    for (std::int64_t i = first + threadIdx.x; i < end; i += kThreads) atomicAdd(&of_tile[digit_of(ids[i], shift)], 1);
    __syncthreads();
    count[blockIdx.x * kDigits + threadIdx.x] = of_tile[threadIdx.x];
}

// Moves a tile's ids, and their positions (null: the first pass). Each warp takes a part of the tile, 32 ids at a time.
__global__ void place_by_digit(SortedIds to, const std::int32_t* ids, const std::int32_t* positions,
                               const std::int32_t* count, std::int64_t n, std::int64_t tile_ids, int shift) {
    DEFT_SHARED(std::int32_t, place, kWarps * kDigits);  // of the next id of (warp, digit)
    for (int i = static_cast<int>(threadIdx.x); i < kWarps * kDigits; i += kThreads) place[i] = 0;
    __syncthreads();
    const int lane = warp_lane(), warp = static_cast<int>(threadIdx.x) / kWarpSize;
    std::int32_t* const of_warp = place + warp * kDigits;
    const std::int64_t first = blockIdx.x * tile_ids + warp * (tile_ids / kWarps), end = first + tile_ids / kWarps;
    for (std::int64_t i = first + lane; i < end && i < n; i += kWarpSize)
        atomicAdd(&of_warp[digit_of(ids[i], shift)], 1);
    std::int32_t total = 0, before = 0;  // of this thread's digit, in all tiles and in earlier ones
    for (std::int64_t tile = 0; tile < gridDim.x; ++tile) {
        if (tile == blockIdx.x) before = total;
        total += count[tile * kDigits + threadIdx.x];
    }
    before += block_prefix(total).before;  // its barriers order the counts of the warps, too
    for (int w = 0; w < kWarps; ++w) {
        const std::int32_t of_this_warp = place[w * kDigits + threadIdx.x];
        place[w * kDigits + threadIdx.x] = before;
        before += of_this_warp;
    }
    __syncthreads();
    for (std::int64_t step = first; step < end && step < n; step += kWarpSize) {
        const std::int64_t i = step + lane;
        const bool is_there = i < n;
        const std::int32_t id = is_there ? ids[i] : 0;
        const int digit = digit_of(id, shift);
        unsigned same = __ballot_sync(kWholeWarp, is_there);  // lanes of the same digit
        for (int bit = 0; bit < kDigitBits; ++bit) {
            const unsigned has_bit = __ballot_sync(kWholeWarp, (digit >> bit) & 1);
            same &= ((digit >> bit) & 1) != 0 ? has_bit : ~has_bit;
        }
        const int earlier = __popc(same & ((1u << lane) - 1));
        const std::int32_t at = is_there ? of_warp[digit] + earlier : 0;
        __syncwarp();  // the place has been read
        if (is_there && earlier == 0) of_warp[digit] += __popc(same);
        __syncwarp();
        if (!is_there) continue;
        to.id[at] = id;
        to.position[at] = positions == nullptr ? static_cast<std::int32_t>(i) : positions[i];
    }
}

}  // namespace

SortedIds sort_ids(Exec& exec, const std::int32_t* ids, std::int64_t n, std::int64_t V) {
    const std::size_t bytes = scratch_bytes<std::int32_t>(n);
    const auto part = [&](std::size_t i) { return scratch<std::int32_t>(exec, i * bytes); };
    SortedIds from{}, to{part(0), part(1)}, other{part(2), part(3)};
    std::int32_t* const count = part(4);
    const std::int64_t tile_ids = sorted_tile_ids(n), tiles = ceil_div(n, tile_ids);
    for (int shift = 0; shift == 0 || (V - 1) >> shift != 0; shift += kDigitBits) {
        const std::int32_t* const in = shift == 0 ? ids : from.id;
        launch(exec, {"count_digits", tiles, kThreads}, count_digits, count, in, n, tile_ids, shift);
        launch(exec, {"place_by_digit", tiles, kThreads}, place_by_digit, to, in, from.position, count, n, tile_ids,
               shift);
        from = to;
        std::swap(to, other);
    }
    return from;
}

}  // namespace deft::kernels::cuda
