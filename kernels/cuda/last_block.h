#pragma once
// The last block of a launch finishes what all have begun: sums over partial sums take no launch of their own. The
// order of addition is that of the partial sums; which block is last changes no bit.

#include <cstdint>
#include <string>

#include "base/error.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

// Whether this block is the last of `blocks` that ask with this counter; it then sees what the others wrote before they
// asked. The counter is 0 before and after. All threads of a block take part.
__device__ inline bool is_last_block(std::uint32_t* counter, std::int64_t blocks) {
    DEFT_SHARED(bool, is_last, 1);
    __syncthreads();  // the block has written
    if (threadIdx.x == 0) {
        if (blocks > 1) {
            const auto most = static_cast<unsigned>(blocks - 1);
            __threadfence();
            is_last[0] = atomicInc(counter, most) == most;
            __threadfence();
        } else {
            is_last[0] = true;
        }
    }
    __syncthreads();
    return is_last[0];
}

// Errors: config, naming the kernel, when the stream has fewer counters than it needs.
inline void require_counters(const Exec& exec, std::int64_t counters, const char* kernel) {
    if (static_cast<std::int64_t>(exec.counters.size()) >= counters) return;
    throw Error(ErrorKind::config, std::string(kernel) + " needs " + std::to_string(counters) +
                                       " counters of blocks, but was given " + std::to_string(exec.counters.size()));
}

// Chunks i, i + kChunkGroups, ... are added first, then their sums: so several blocks share the work.
inline constexpr std::int64_t kChunkGroups = 8, kCountersOfSums = kChunkGroups + 1;

// Sums over the chunks of partial (chunks, all columns of one or two arrays), each of which one block leaves.
struct ChunkSums {
    float* array[2];    // (cols): = or += the sums; the second null where there is one
    std::int64_t cols;  // of an array
    float* partial;
    std::int64_t chunks;
    std::uint32_t* counters;  // kCountersOfSums, for the blocks that share columns
    bool adds;

    DEFT_HOST_DEVICE std::int64_t all_cols() const { return array[1] == nullptr ? cols : 2 * cols; }
};

// sum = the sums of kWidth columns over the rows first, first + step, ... of partial.
template <int kWidth>
__device__ inline void sum_chunks(float (&sum)[kWidth], const ChunkSums& sums, std::int64_t col, std::int64_t first,
                                  std::int64_t step) {
    constexpr int kAhead = 8;  // rows that are loaded before they are added
    for (float& one : sum) one = 0;
    for (std::int64_t row = first; row < sums.chunks; row += kAhead * step) {
        float ahead[kAhead][kWidth] = {};
        for (int i = 0; i < kAhead; ++i)
            if (row + i * step < sums.chunks) load(ahead[i], sums.partial + (row + i * step) * sums.all_cols() + col);
        for (int i = 0; i < kAhead; ++i)
            for (int j = 0; j < kWidth; ++j) sum[j] += ahead[i][j];
    }
}

// After the block has written the columns [first, end) of its chunk's partial sums: the last block of a group of chunks
// adds their sums, the last of all those of the groups. kWidth columns are loaded at once.
template <int kWidth>
__device__ inline void finish_chunk_sums(const ChunkSums& sums, std::int64_t chunk, std::int64_t first,
                                         std::int64_t end) {
    const std::int64_t groups = sums.chunks < kChunkGroups ? sums.chunks : kChunkGroups, group = chunk % groups;
    const std::int64_t own = first + static_cast<std::int64_t>(threadIdx.x) * kWidth;
    const std::int64_t stride = static_cast<std::int64_t>(blockDim.x) * kWidth;
    if (sums.chunks > groups) {
        if (!is_last_block(sums.counters + group, ceil_div(sums.chunks - group, groups))) return;
        for (std::int64_t col = own; col < end; col += stride) {
            float sum[kWidth];
            sum_chunks(sum, sums, col, group, groups);
            store(sums.partial + group * sums.all_cols() + col, sum);
        }
    }
    if (!is_last_block(sums.counters + kChunkGroups, groups)) return;
    for (std::int64_t col = own; col < end; col += stride) {
        float sum[kWidth] = {}, of_groups[kChunkGroups][kWidth] = {};
        for (int i = 0; i < kChunkGroups; ++i)
            if (i < groups) load(of_groups[i], sums.partial + i * sums.all_cols() + col);
        float* const to = col < sums.cols ? sums.array[0] + col : sums.array[1] + (col - sums.cols);
        for (int j = 0; j < kWidth; ++j) {
            for (int i = 0; i < kChunkGroups; ++i) sum[j] += of_groups[i][j];
            to[j] = sums.adds ? to[j] + sum[j] : sum[j];
        }
    }
}

}  // namespace deft::kernels::cuda
