#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kGroups = 128, kValues = kGroups * kDropoutGroup;  // whose words are drawn at a time

// y (n) = residual + keep x scale, of sample b from its group `first` on; residual (n) or null. n is at most kValues.
void drop_values(float* y, const float* x, const float* residual, std::int64_t n, const DropoutKey& key, std::int64_t b,
                 std::int64_t first) {
    std::uint32_t words[kValues];
    const std::int64_t groups = ceil_div(n, kDropoutGroup);
#pragma omp simd
    for (std::int64_t group = 0; group < groups; ++group) {
        const PhiloxBlock block = key.words(b, first + group);
        for (int i = 0; i < kDropoutGroup; ++i) words[group * kDropoutGroup + i] = block.word[i];
    }
    const std::uint32_t first_kept = key.first_kept();
    const auto scale = static_cast<float>(key.scale());
    if (residual == nullptr) {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) y[i] = words[i] < first_kept ? 0.0f : x[i] * scale;
    } else {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) y[i] = residual[i] + (words[i] < first_kept ? 0.0f : x[i] * scale);
    }
}

}  // namespace

template <>
void dropout(Exec& exec, float* y, const float* x, const float* residual, std::int64_t B, std::int64_t N,
             const DropoutKey& key) {
    const std::int64_t chunks = ceil_div(N, kValues);  // of the longest sample
    parallel_items(exec.threads, B * chunks, [&](std::int64_t item, int) {
        const std::int64_t b = item / chunks, first = item % chunks * kValues, at = key.first(b, N) + first;
        const std::int64_t n = std::min(kValues, key.values(b, N) - first);
        if (n <= 0) return;
        if (key.p == 0 && residual == nullptr) {  // also what is too small for a normal number stays as it is
            if (y != x) std::copy_n(x + at, n, y + at);
            return;
        }
        widest_vectors([&] {
            drop_values(y + at, x + at, residual == nullptr ? nullptr : residual + at, n, key, b,
                        first / kDropoutGroup);
        });
    });
}

}  // namespace deft::kernels::cpu
