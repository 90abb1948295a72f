#pragma once
// Several neighbouring values moved in one access of up to 16 bytes, where shapes and pointers allow it.

#include <cstdint>
#include <type_traits>

#include "kernels/bf16.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

template <class Real, int kWidth>
struct alignas(sizeof(Real) * kWidth) Vector {
    Real item[kWidth];
};

// Values of Real in 16 bytes.
template <class Real>
inline constexpr int kWide = 16 / sizeof(Real);

// The words that one access moves: see store_words.
template <class Item>
using WordsOf = std::conditional_t<sizeof(Item) == 16, uint4, std::conditional_t<sizeof(Item) == 8, uint2, Item>>;

// As they are stored: half the registers of floats, for values that wait.
template <int kWidth, class Real>
__device__ inline Vector<Real, kWidth> load_vector(const Real* from) {
    using Item = Vector<Real, kWidth>;
    require_aligned(from, alignof(Item));
    return __builtin_bit_cast(Item, *reinterpret_cast<const WordsOf<Item>*>(from));
}

template <int kWidth, class Real>
__device__ inline void store_vector(Real* to, const Vector<Real, kWidth>& vector) {
    using Item = Vector<Real, kWidth>;
    require_aligned(to, alignof(Item));
    if constexpr (sizeof(Item) >= 8)
        store_words(reinterpret_cast<WordsOf<Item>*>(to), __builtin_bit_cast(WordsOf<Item>, vector));
    else
        *reinterpret_cast<Item*>(to) = vector;
}

// kWidth may be a multiple of what 16 bytes hold.
template <int kWidth, class Real>
__device__ inline void load(float (&to)[kWidth], const Real* from) {
    constexpr int kAtOnce = kWidth < kWide<Real> ? kWidth : kWide<Real>;
    for (int first = 0; first < kWidth; first += kAtOnce) {
        const Vector<Real, kAtOnce> vector = load_vector<kAtOnce>(from + first);
        for (int i = 0; i < kAtOnce; ++i) to[first + i] = to_float(vector.item[i]);
    }
}

template <int kWidth, class Real>
__device__ inline void store(Real* to, const float (&from)[kWidth]) {
    constexpr int kAtOnce = kWidth < kWide<Real> ? kWidth : kWide<Real>;
    for (int first = 0; first < kWidth; first += kAtOnce) {
        Vector<Real, kAtOnce> vector;
        for (int i = 0; i < kAtOnce; ++i) vector.item[i] = from_float<Real>(from[first + i]);
        store_vector(to + first, vector);
    }
}

// Whether rows of `cols` values, the first of which are at these addresses (null: absent), can be moved 16 bytes at a
// time.
template <class Real, class... Pointers>
bool rows_are_wide(std::int64_t cols, const Pointers*... first) {
    return cols % kWide<Real> == 0 && ((reinterpret_cast<std::uintptr_t>(first) % 16 == 0) && ...);
}

// f(width), a std::integral_constant: kWide<Real> or 1.
template <class Real, class F>
void with_width(bool wide, const F& f) {
    if (wide)
        f(std::integral_constant<int, kWide<Real>>{});
    else
        f(std::integral_constant<int, 1>{});
}

}  // namespace deft::kernels::cuda
