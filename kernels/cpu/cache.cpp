#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

template <>
void cache_rows(Exec& exec, float* cache, const float* x, const CacheRows& s) {
    // A row for each of few samples is copied sooner than a team of threads meets.
    constexpr std::int64_t kValuesOfThread = 1 << 14;
    const std::int64_t rows = s.samples * s.K, most = std::max<std::int64_t>(1, rows * s.C / kValuesOfThread);
    parallel_items(static_cast<int>(std::min<std::int64_t>(exec.threads, most)), rows, [&](std::int64_t item, int) {
        const std::int64_t sample = item / s.K, k = item % s.K, row = (s.B == 1 ? 0 : sample * s.K) + k;
        std::copy_n(x + row * s.x_stride, s.C, cache + (sample * s.T + s.first(sample) + k) * s.C);
    });
}

}  // namespace deft::kernels::cpu
