#pragma once
// Exclusive prefix sums of integers over a block.

#include "kernels/cuda/block_reduce.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

template <class Integer>
struct Prefix {
    Integer before;  // sum over the threads before this one
    Integer total;   // over all
};

// All threads of a block of whole warps take part.
template <class Integer>
__device__ inline Prefix<Integer> block_prefix(Integer value) {
    DEFT_SHARED(Integer, of_warp, kMaxWarps);
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize, warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int warps = static_cast<int>(blockDim.x) / kWarpSize;
    Integer through = value;  // sum up to and with this lane
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const Integer left = __shfl_up_sync(kWholeWarp, through, static_cast<unsigned>(distance));
        if (lane >= distance) through += left;
    }
    __syncthreads();  // an earlier prefix has been read
    if (lane == kWarpSize - 1) of_warp[warp] = through;
    __syncthreads();
    Prefix<Integer> prefix{through - value, 0};
    for (int w = 0; w < warps; ++w) {
        if (w < warp) prefix.before += of_warp[w];
        prefix.total += of_warp[w];
    }
    return prefix;
}

}  // namespace deft::kernels::cuda
