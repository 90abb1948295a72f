#pragma once
// Kernels over flat arrays: kWidth neighbouring values at a time, and the rest after the last whole vector one at a
// time.

#include <cstdint>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

// f.template operator()<kAtOnce>(i) for values i to i + kAtOnce - 1.
template <int kWidth, class F>
__device__ inline void for_vectors(std::int64_t n, const F& f) {
    const std::int64_t vectors = n / kWidth;
    for (std::int64_t i = first_item(); i < vectors; i += item_stride()) f.template operator()<kWidth>(i * kWidth);
    const std::int64_t rest = vectors * kWidth + first_item();
    if (kWidth > 1 && rest < n) f.template operator()<1>(rest);
}

// Enough threads for for_vectors.
inline Launch over_vectors(const char* kernel, std::int64_t n, int width) {
    return over_items(kernel, n / width + (width > 1 ? n % width : 0));
}

template <class... Pointers>
bool are_wide(const Pointers*... first) {
    return ((reinterpret_cast<std::uintptr_t>(first) % 16 == 0) && ...);
}

}  // namespace deft::kernels::cuda
