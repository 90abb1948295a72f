#include "kernels/bench/peak_fma.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>

#include "base/stopwatch.h"

namespace deft::kernels {

namespace {

constexpr int kRounds = 12;
constexpr long kIterations = 400'000;
constexpr int kChains = 10;  // enough independent chains to hide the latency of two FMA units

// Returns a value that depends on every FMA, so that none is optimised away.
float fma_loop_avx2(long iterations) {
    __m256 sum[kChains];
    for (int i = 0; i < kChains; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
    const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (long n = 0; n < iterations; ++n)
        for (int i = 0; i < kChains; ++i) sum[i] = _mm256_fmadd_ps(sum[i], a, b);
    for (int i = 1; i < kChains; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
    return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f"))) float fma_loop_avx512(long iterations) {
    __m512 sum[kChains];
    for (int i = 0; i < kChains; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
    const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (long n = 0; n < iterations; ++n)
        for (int i = 0; i < kChains; ++i) sum[i] = _mm512_fmadd_ps(sum[i], a, b);
    for (int i = 1; i < kChains; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return _mm512_cvtss_f32(sum[0]);
}

double best_rate(int threads, double flops_per_fma, float (*loop)(long)) {
    double best = 0;
    volatile float sink = 0;
    for (int round = 0; round < kRounds; ++round) {
        const Clock::time_point start = Clock::now();
#pragma omp parallel num_threads(threads)
        {
            const float value = loop(kIterations);
#pragma omp critical
            sink = sink + value;
        }
        const double seconds = seconds_since(start);
        best = std::max(best, threads * static_cast<double>(kIterations) * kChains * flops_per_fma / seconds);
    }
    return best;
}

}  // namespace

FmaPeak measure_fma_peak(int threads) {
    FmaPeak peak;
    peak.avx2_flops = best_rate(threads, 16, fma_loop_avx2);
    if (__builtin_cpu_supports("avx512f")) peak.avx512_flops = best_rate(threads, 32, fma_loop_avx512);
    return peak;
}

}  // namespace deft::kernels
