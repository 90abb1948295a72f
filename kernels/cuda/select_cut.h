#pragma once
// The smallest of many keys, found by one block; included by .cu sources alone.

#include <cstdint>

#include "kernels/cuda/block_reduce.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

inline constexpr int kDigitBits = 8, kBuckets = 1 << kDigitBits, kKeyBits = 32;
inline constexpr int kCutThreads = kBuckets;  // of a block: one a bucket

struct Cut {
    std::uint32_t key;   // the largest key kept
    std::uint32_t ties;  // how many of the positions that have it are kept
};

// The K-th smallest of T keys, 1 <= K <= T, by radix selection from the highest digit down. Keys are recomputed on
// every pass, so that T has no limit.
template <class Row>
__device__ inline Cut select_cut(const Row& keys, std::int64_t T, std::int64_t K) {
    DEFT_SHARED(std::uint32_t, count, kBuckets);  // keys a digit
    DEFT_SHARED(Cut, chosen, 1);
    Cut cut{0, static_cast<std::uint32_t>(K)};  // the digits found so far; the rank among the keys that share them
    for (int shift = kKeyBits - kDigitBits; shift >= 0; shift -= kDigitBits) {
        count[threadIdx.x] = 0;
        __syncthreads();
        for (std::int64_t t = threadIdx.x; t < T; t += kCutThreads) {
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

}  // namespace deft::kernels::cuda
