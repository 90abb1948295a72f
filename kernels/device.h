#pragma once
// The one header that distinguishes the compilers of kernel source: nvcc; a host compiler that emulates the device (the
// .cu sources of tests, compiled with DEFT_CUDA_EMULATOR); a host compiler for code that both sides share.
//
// Kernel source uses what both sides know: __global__, __device__, threadIdx and its like, __syncthreads, __syncwarp,
// __threadfence, the __shfl functions, __ballot_sync, integer atomicAdd and atomicInc, and
//   DEFT_SHARED(Item, name, count)   an array in the block's shared memory; count is a constant
//   DEFT_DYNAMIC_SHARED(Item, name)  the block's dynamic shared memory, as many bytes as the launch asked
//   DEFT_UNROLL                      before a loop whose arrays must stay in registers
//   require_aligned(address, bytes)  before an access of that many bytes at once
//   store_words(to, words)           one access of 8 or 16 bytes to global memory: uint2 or uint4
// and the instructions of tensor cores and asynchronous copies in kernels/cuda/tensor_core_words.h.
// Warps are not in lockstep; a shuffle orders no memory: __syncwarp does.

#if defined(__CUDACC__)
#include "kernels/cuda/device_words.h"
#elif defined(DEFT_CUDA_EMULATOR)
#include "kernels/cuda/emulator/device_words.h"
#else
#define DEFT_HOST_DEVICE
#endif
