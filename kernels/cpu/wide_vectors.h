#pragma once
// Loops on vectors as wide as the processor's, in a program that is built for AVX2.

#include <cstdint>

#include "kernels/cpu/gemm.h"

namespace deft::kernels::cpu {

template <class Body>
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512"), gnu::flatten, gnu::noinline]] void
with_avx512(const Body& body) {
    body();
}

// body(), compiled for AVX-512 too and run so where products run on it. Whatever body calls is compiled with it.
// A loop marked `omp simd reduction` stays as narrow as without: see sum_of.
template <class Body>
void widest_vectors(const Body& body) {
    if (products_use_avx512())
        with_avx512(body);
    else
        body();
}

// Partial sums that wait for none before them, enough for two of the widest vectors; a power of two.
inline constexpr std::int64_t kPartialSums = 32;

// The sum of term(i), i < n. The order of additions is a function of n alone.
template <class Sum = float, class Term>
Sum sum_of(std::int64_t n, const Term& term) {
    Sum part[kPartialSums] = {};
    std::int64_t i = 0;
    for (; i + kPartialSums <= n; i += kPartialSums)
#pragma omp simd
        for (std::int64_t j = 0; j < kPartialSums; ++j) part[j] += term(i + j);
    for (std::int64_t j = 0; i < n; ++i, ++j) part[j] += term(i);
#pragma GCC unroll 5
    for (std::int64_t half = kPartialSums / 2; half > 0; half /= 2)
#pragma omp simd
        for (std::int64_t j = 0; j < half; ++j) part[j] += part[j + half];
    return part[0];
}

// The largest of x[0, n), n > 0; NaN is passed over.
inline float largest(const float* x, std::int64_t n) {
    float part[kPartialSums];
    for (float& p : part) p = x[0];
    std::int64_t i = 0;
    for (; i + kPartialSums <= n; i += kPartialSums)
#pragma omp simd
        for (std::int64_t j = 0; j < kPartialSums; ++j) part[j] = x[i + j] > part[j] ? x[i + j] : part[j];
    for (; i < n; ++i) part[0] = x[i] > part[0] ? x[i] : part[0];
#pragma GCC unroll 5
    for (std::int64_t half = kPartialSums / 2; half > 0; half /= 2)
#pragma omp simd
        for (std::int64_t j = 0; j < half; ++j) part[j] = part[j + half] > part[j] ? part[j + half] : part[j];
    return part[0];
}

}  // namespace deft::kernels::cpu
