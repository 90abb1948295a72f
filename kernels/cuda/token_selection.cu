#include "kernels/cuda/token_selection.h"

#include "kernels/cuda/block_scan.h"
#include "kernels/cuda/launch.h"
#include "kernels/philox.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kDigitBits = 8, kBuckets = 1 << kDigitBits, kKeyBits = 32;
constexpr int kThreads = kBuckets;  // of a block: one a bucket

// The keys of one layer of one sample. They are drawn anew whenever they are wanted, so that T has no limit.
struct Keys {
    std::uint64_t seed, step, sample;
    std::uint32_t layer;

    __device__ std::uint32_t operator[](std::int64_t position) const {
        return philox_u32(seed, RandomPurpose::token_drop, step, layer, sample, static_cast<std::uint32_t>(position));
    }
};

struct Cut {
    std::uint32_t key;   // the largest key kept
    std::uint32_t ties;  // how many of the positions that have it are kept
};

// The K-th smallest of T keys, 1 <= K <= T, by radix selection from the highest digit down.
__device__ Cut select_cut(const Keys& keys, std::int64_t T, std::int64_t K) {
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

// One block a row of index (layers B, K).
__global__ void select_kept(std::int32_t* index, std::uint64_t seed, std::uint64_t step, const std::int32_t* layer_id,
                            const std::int64_t* sample_id, std::int64_t B, std::int64_t T, std::int64_t K) {
    const Keys keys{seed, step, static_cast<std::uint64_t>(sample_id[blockIdx.x % B]),
                    static_cast<std::uint32_t>(layer_id[blockIdx.x / B])};
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

void select_kept_tokens(Exec& exec, std::int32_t* index, std::uint64_t seed, std::int64_t step,
                        const std::int32_t* layer_id, std::int64_t layers, const std::int64_t* sample_id,
                        std::int64_t B, std::int64_t T, std::int64_t K) {
    if (K == 0) return;
    launch(exec, {"select_kept", layers * B, kThreads}, select_kept, index, seed, static_cast<std::uint64_t>(step),
           layer_id, sample_id, B, T, K);
}

}  // namespace deft::kernels::cuda
