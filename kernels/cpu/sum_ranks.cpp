#include <algorithm>

#include "kernels/ceil_div.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

namespace {

template <class Value>
void add(std::int64_t n, const Value* __restrict from, Value* __restrict to) {
    for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

}  // namespace

template <class Value>
void sum_ranks(Exec& exec, Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
    constexpr std::int64_t kChunk = 1 << 12;
    parallel_items(exec.threads, ceil_div(n, kChunk), [&](std::int64_t chunk, int) {
        const std::int64_t first = chunk * kChunk, count = std::min(kChunk, n - first);
        Value own[kChunk];
        Value* const sum = sums + first;
        if (rank > 0) {
            std::copy_n(sum, count, own);
            std::copy_n(others + first, count, sum);
        }
        for (int r = 1; r < ranks; ++r) add(count, r == rank ? own : others + r * n + first, sum);
    });
}

template void sum_ranks<float>(Exec&, float*, const float*, std::int64_t, int, int);
template void sum_ranks<double>(Exec&, double*, const double*, std::int64_t, int, int);
template void sum_ranks<std::int64_t>(Exec&, std::int64_t*, const std::int64_t*, std::int64_t, int, int);

}  // namespace deft::kernels::cpu
