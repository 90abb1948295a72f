#pragma once
// The words of CUDA kernel source for a host compiler: qualifiers, indices, shared memory, mathematics. Included by
// kernels/device.h alone. The collective operations and the atomics are in files of their own.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "kernels/cuda/emulator/atomics.h"
#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/shared_memory.h"
#include "kernels/cuda/emulator/stream.h"
#include "kernels/cuda/emulator/tensor_core_words.h"
#include "kernels/cuda/emulator/warp.h"

#define DEFT_HOST_DEVICE
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

// The words that one access moves, whatever their type.
struct [[gnu::may_alias]] alignas(8) uint2 {
    unsigned x, y;
};
struct [[gnu::may_alias]] alignas(16) uint4 {
    unsigned x, y, z, w;
};

#define threadIdx (::dim3{::deft::kernels::cuda::emulator::thread_index(), 0, 0})
#define blockIdx (::dim3{::deft::kernels::cuda::emulator::block_index(), 0, 0})
#define blockDim (::dim3{::deft::kernels::cuda::emulator::threads_of_block(), 1, 1})
#define gridDim (::dim3{::deft::kernels::cuda::emulator::blocks_of_grid(), 1, 1})

// A block's arrays: one a line of source and instantiation, as a __shared__ variable is.
#define DEFT_SHARED(Item, name, count) \
    Item(&name)[count] = ::deft::kernels::cuda::emulator::shared_array<Item, count>(std::source_location::current())
#define DEFT_UNROLL
#define DEFT_DYNAMIC_SHARED(Item, name) \
    Item* const name = reinterpret_cast<Item*>(::deft::kernels::cuda::emulator::dynamic_shared_memory())

inline int __popc(unsigned bits) {
    return std::popcount(bits);
}
inline int __clz(int bits) {
    return std::countl_zero(static_cast<unsigned>(bits));
}
inline int __ffs(int bits) {
    return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}

namespace deft::kernels::cuda {

// Functions of a device that have no namespace there.
using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;

inline float rsqrtf(float x) {
    return 1.0f / std::sqrt(x);
}

// A device traps where the address of a wide access is not a multiple of its size; a host may not.
inline void require_aligned(const void* address, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) emulator::misaligned_access(address, bytes);
}

template <class Words>
void store_words(Words* to, const Words& words) {
    *to = words;
}

template <class... Parameters>
void start_kernel(const char* name, std::int64_t blocks, int threads, std::size_t shared_bytes, void* stream,
                  void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) {
    const auto run = [=] { emulator::run(name, blocks, threads, shared_bytes, [&] { kernel(arguments...); }); };
    if (emulator::recorded(stream) == nullptr) return run();
    emulator::submit(stream, {name, blocks, threads, shared_bytes, {emulator::bytes_of(arguments)...}, run});
}

}  // namespace deft::kernels::cuda
