#include "kernels/cuda/token_selection.h"

#include "kernels/cuda/block_scan.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kDigitBits = 8, kBuckets = 1 << kDigitBits, kKeyBits = 32;
constexpr int kThreads = kBuckets;  // of a block: one a bucket

struct Cut {
    std::uint32_t key;   // the largest key kept
    std::uint32_t ties;  // how many of the positions that have it are kept
};

// The K-th smallest of T keys, 1 <= K <= T, by radix selection from the highest digit down. Keys are asked for anew
// whenever they are wanted, so that T has no limit.
template <class Row>
__device__ Cut select_cut(const Row& keys, std::int64_t T, std::int64_t K) {
    DEFT_SHARED(std::uint32_t, count, kBuckets);  // keys a digit
    DEFT_SHARED(Cut, chosen, 1);
    Cut cut{0, static_cast<std::uint32_t>(K)};  // the digits found so far; the rank among the keys that share them
    for (int shift = kKeyBits - kDigitBits; shift >= 0; shift -= kDigitBits) {
        count[threadIdx.x] = 0;
        __syncthreads();
        for (std::int64_t t = threadIdx.x; t < T; t += kThreads) {
            const std::uint32_t differs = keys[t] ^ cut.key;
            if (std::uint64_t{differs} >> (shift + kDigitBits) == 0) atomicAdd(&count[differs >> shift], 1u);
        }
        __syncthreads();
        const std::uint32_t own = count[threadIdx.x];
        const std::uint32_t before = block_prefix(own).before;
        if (before < cut.ties && cut.ties <= before + own)
            *chosen = {cut.key | threadIdx.x << shift, cut.ties - before};
        __syncthreads();
        cut = *chosen;
    }
    return cut;
}

// One block a row of index (rows, K).
template <class Keys>
__global__ void select_kept(std::int32_t* index, Keys of_rows, std::int64_t T, std::int64_t K) {
    const typename Keys::Row keys = of_rows.row(blockIdx.x, T);
    const Cut cut = select_cut(keys, T, K);
    std::int32_t* kept = index + blockIdx.x * K;  // (K)
    std::uint32_t lower = 0, equal = 0;           // keys below the cut, and at it, before this tile of positions
    for (std::int64_t first = 0; first < T; first += kThreads) {
        const std::int64_t t = first + threadIdx.x;
        const std::uint32_t key = t < T ? keys[t] : 0;
        const std::uint32_t is_lower = t < T && key < cut.key, is_equal = t < T && key == cut.key;
        constexpr int kHalf = 16;  // two counts of at most kThreads in one word
        const Prefix<std::uint32_t> prefix = block_prefix(is_lower | is_equal << kHalf);
        const std::uint32_t lower_before = lower + (prefix.before & 0xffffu);
        const std::uint32_t equal_before = equal + (prefix.before >> kHalf);
        if (is_lower || (is_equal && equal_before < cut.ties))
            kept[lower_before + (equal_before < cut.ties ? equal_before : cut.ties)] = static_cast<std::int32_t>(t);
        lower += prefix.total & 0xffffu;
        equal += prefix.total >> kHalf;
    }
}

}  // namespace

template <class Keys>
void select_kept_tokens(Exec& exec, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K) {
    if (K == 0) return;
    launch(exec, {"select_kept", rows, kThreads}, select_kept<Keys>, index, keys, T, K);
}

template void select_kept_tokens<RandomKeys>(Exec&, std::int32_t*, const RandomKeys&, std::int64_t, std::int64_t,
                                             std::int64_t);
template void select_kept_tokens<ImportanceKeys>(Exec&, std::int32_t*, const ImportanceKeys&, std::int64_t,
                                                 std::int64_t, std::int64_t);

}  // namespace deft::kernels::cuda
