#include "kernels/bench/cpu_peaks.h"

#include <immintrin.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "base/stopwatch.h"

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

namespace {

constexpr int kFmaRounds = 12;
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

double best_fma_rate(int threads, double flops_per_fma, float (*loop)(long)) {
    double best = 0;
    volatile float sink = 0;
    for (int round = 0; round < kFmaRounds; ++round) {
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
    peak.avx2_flops = best_fma_rate(threads, 16, fma_loop_avx2);
    if (__builtin_cpu_supports("avx512f")) peak.avx512_flops = best_fma_rate(threads, 32, fma_loop_avx512);
    return peak;
}

namespace {

std::string first_word(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return word;
}

// "32768K"
std::optional<std::int64_t> size_of(const std::string& text) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    if (digits == 0 || digits > 9 || text.size() > digits + 1) return std::nullopt;
    const std::int64_t number = std::stoll(text.substr(0, digits));
    if (digits == text.size()) return number;
    if (text[digits] == 'K') return number << 10;
    if (text[digits] == 'M') return number << 20;
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> cache_bytes(int level, const std::filesystem::path& described) {
    for (int index = 0; index < 8; ++index) {
        const std::filesystem::path cache = described / ("index" + std::to_string(index));
        if (first_word(cache / "level") != std::to_string(level) || first_word(cache / "type") == "Instruction")
            continue;
        if (const auto size = size_of(first_word(cache / "size")); size && *size > 0) return size;
    }
    constexpr std::array kNames = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    if (level < 1 || level > 3) return std::nullopt;
    const long bytes = sysconf(kNames[static_cast<std::size_t>(level - 1)]);
    return bytes > 0 ? std::optional<std::int64_t>(bytes) : std::nullopt;
}

std::int64_t last_level_cache_bytes() {
    return cache_bytes(3).value_or(std::int64_t{32} << 20);
}

}  // namespace deft::kernels
