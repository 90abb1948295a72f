#pragma once
// The words of kernel source for nvcc, those that it does not know itself. Included by kernels/device.h alone; the
// emulator has a file of the same name.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/tensor_core_words.h"

#define DEFT_HOST_DEVICE __host__ __device__
#define DEFT_SHARED(Item, name, count) __shared__ Item name[count]
#define DEFT_UNROLL _Pragma("unroll")
#define DEFT_DYNAMIC_SHARED(Item, name)                                   \
    extern __shared__ __align__(16) unsigned char deft_dynamic_shared_[]; \
    Item* const name = reinterpret_cast<Item*>(deft_dynamic_shared_)

namespace deft::kernels::cuda {

// Before a wide access: a device traps by itself.
__device__ inline void require_aligned(const void*, std::size_t) {}

// To global memory, in one access: the compiler splits the assignment of a struct into its items as it likes.
__device__ inline void store_words(uint4* to, const uint4& words) {
    __stwb(to, words);
}
__device__ inline void store_words(uint2* to, const uint2& words) {
    __stwb(to, words);
}

// Errors: device, naming the kernel. Defined in runtime.cu.
void check(cudaError_t status, const char* what);

template <class... Parameters>
void start_kernel(const char* name, std::int64_t blocks, int threads, std::size_t shared_bytes, void* stream,
                  void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) {
    constexpr std::size_t kWithoutAsking = 48 << 10;
    if (shared_bytes > kWithoutAsking)
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)),
              name);
    kernel<<<dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), shared_bytes,
             static_cast<cudaStream_t>(stream)>>>(arguments...);
    check(cudaGetLastError(), name);
}

}  // namespace deft::kernels::cuda
