#include "kernels/bench/peak_memory.h"

#include <immintrin.h>

#include <algorithm>
#include <vector>

#include "base/stopwatch.h"
#include "kernels/bench/cache_sizes.h"

namespace deft::kernels {

namespace {

constexpr int kRounds = 5;

constexpr std::int64_t kStreams = 4;  // a core keeps more of memory busy with several than with one

// n floats, a multiple of 64, in kStreams streams.
float sum(const float* x, std::int64_t n) {
    __m256 part[2 * kStreams] = {};
    const std::int64_t length = n / kStreams;
    for (std::int64_t i = 0; i < length; i += 16)
        for (std::int64_t s = 0; s < kStreams; ++s)
            for (std::int64_t j = 0; j < 2; ++j)
                part[2 * s + j] = _mm256_add_ps(part[2 * s + j], _mm256_loadu_ps(x + s * length + i + 8 * j));
    for (std::int64_t j = 1; j < 2 * kStreams; ++j) part[0] = _mm256_add_ps(part[0], part[j]);
    return _mm256_cvtss_f32(part[0]);
}

void update(float* x, std::int64_t n) {
    const __m256 factor = _mm256_set1_ps(0.999f);
    const std::int64_t length = n / kStreams;
    for (std::int64_t i = 0; i < length; i += 8)
        for (std::int64_t s = 0; s < kStreams; ++s) {
            float* at = x + s * length + i;
            _mm256_storeu_ps(at, _mm256_mul_ps(_mm256_loadu_ps(at), factor));
        }
}

void copy(float* to, const float* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 8) _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
    _mm_sfence();
}

// Bytes a second of work(thread) on all threads, which moves `bytes` in all.
template <class Work>
double best_rate(int threads, double bytes, const Work& work) {
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        const Clock::time_point start = Clock::now();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int thread = 0; thread < threads; ++thread) work(thread);
        best = std::max(best, bytes / seconds_since(start));
    }
    return best;
}

// A buffer of each thread, first written by it.
std::vector<std::vector<float>> buffers(int threads, std::int64_t n) {
    std::vector<std::vector<float>> all(static_cast<std::size_t>(threads));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int thread = 0; thread < threads; ++thread)
        all[static_cast<std::size_t>(thread)].assign(static_cast<std::size_t>(n) + 8, 1.0f);
    return all;
}

float* aligned(std::vector<float>& buffer) {
    const auto at = reinterpret_cast<std::uintptr_t>(buffer.data());
    return buffer.data() + ((32 - at % 32) % 32) / sizeof(float);
}

}  // namespace

MemoryPeak measure_memory_peak(int threads) {
    MemoryPeak peak;
    const std::int64_t large =
        std::clamp<std::int64_t>(2 * last_level_cache_bytes() / threads, 16 << 20, 128 << 20) / 256 * 64;
    const std::int64_t small = cache_bytes(2).value_or(512 << 10) / 2 / 256 * 64;
    const int passes = static_cast<int>(large / small) + 1;
    std::vector<std::vector<float>> from = buffers(threads, large), to = buffers(threads, large);
    volatile float sink = 0;
    const auto bytes = [&](std::int64_t n) { return static_cast<double>(n) * sizeof(float) * threads; };
    const auto keep = [&](float value) {
#pragma omp critical
        sink = sink + value;
    };
    peak.read =
        best_rate(threads, bytes(large), [&](int t) { keep(sum(from[static_cast<std::size_t>(t)].data(), large)); });
    peak.copy = best_rate(threads, 2 * bytes(large), [&](int t) {
        copy(aligned(to[static_cast<std::size_t>(t)]), from[static_cast<std::size_t>(t)].data(), large);
    });
    peak.update =
        best_rate(threads, 2 * bytes(large), [&](int t) { update(to[static_cast<std::size_t>(t)].data(), large); });
    peak.cached_read = best_rate(threads, bytes(small) * passes, [&](int t) {
        float total = 0;
        for (int pass = 0; pass < passes; ++pass) {
            asm volatile("" : : : "memory");  // each pass reads again
            total += sum(from[static_cast<std::size_t>(t)].data(), small);
        }
        keep(total);
    });
    return peak;
}

}  // namespace deft::kernels
