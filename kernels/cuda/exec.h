#pragma once
// How CUDA kernels run: one stream of one device and one scratch buffer. No CUDA header is needed to hold one.

#include <cstddef>
#include <cstdint>
#include <span>

namespace deft::kernels::cuda {

// True in a build whose kernels/cuda is there, on a device or emulated.
#ifdef DEFT_CUDA
inline constexpr bool kBuilt = true;
#else
inline constexpr bool kBuilt = false;
#endif

struct Products;

struct Exec {
    void* stream = nullptr;               // cudaStream_t
    void* blas = nullptr;                 // the library's handle (gemm.h)
    Products* products = nullptr;         // plans of products, and the path of each (products.h)
    std::span<std::byte> blas_workspace;  // device memory of the library alone
    std::span<std::byte> workspace;       // device memory, at least X_workspace(...) bytes for each kernel X that names
                                          // one; 256-byte aligned
    std::span<std::uint32_t> counters;    // device memory of the stream alone, of zeros between kernels (last_block.h)
};

}  // namespace deft::kernels::cuda
