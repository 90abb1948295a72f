#include "kernels/bench/peak_memory.h"

#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/stopwatch.h"

namespace deft::kernels {

namespace {

constexpr int kRounds = 5;

std::int64_t cache_bytes(int name, std::int64_t otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 ? bytes : otherwise;
}

// n floats, a multiple of 64.
float sum(const float* x, std::int64_t n) {
    __m256 part[8] = {};
    for (std::int64_t i = 0; i < n; i += 64)
        for (int j = 0; j < 8; ++j) part[j] = _mm256_add_ps(part[j], _mm256_loadu_ps(x + i + 8 * j));
    for (int j = 1; j < 8; ++j) part[0] = _mm256_add_ps(part[0], part[j]);
    return _mm256_cvtss_f32(part[0]);
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

std::int64_t last_level_cache_bytes() {
    return cache_bytes(_SC_LEVEL3_CACHE_SIZE, std::int64_t{32} << 20);
}

MemoryPeak measure_memory_peak(int threads) {
    MemoryPeak peak;
    const std::int64_t large =
        std::clamp<std::int64_t>(2 * last_level_cache_bytes() / threads, 16 << 20, 128 << 20) / 256 * 64;
    const std::int64_t small = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10) / 2 / 256 * 64;
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
    peak.cached_read = best_rate(threads, bytes(small) * passes, [&](int t) {
        float total = 0;
        for (int pass = 0; pass < passes; ++pass) total += sum(from[static_cast<std::size_t>(t)].data(), small);
        keep(total);
    });
    return peak;
}

}  // namespace deft::kernels
