#include "kernels/cpu/token_selection.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/workspace.h"
#include "kernels/philox.h"

namespace deft::kernels::cpu {

void select_kept_tokens(Exec& exec, std::int32_t* index, std::uint64_t seed, std::int64_t step,
                        const std::int32_t* layer_id, std::int64_t layers, const std::int64_t* sample_id,
                        std::int64_t B, std::int64_t T, std::int64_t K) {
    require_workspace(exec, select_kept_tokens_workspace(exec.threads, T), "select_kept_tokens");
    const std::size_t thread_bytes = select_kept_tokens_workspace(1, T);
    parallel_items(exec.threads, layers * B, [&](std::int64_t item, int thread) {
        std::int32_t* kept = index + item * K;  // (K)
        if (K == T) {
            std::iota(kept, kept + K, 0);
            return;
        }
        if (K == 0) return;
        const auto layer = static_cast<std::uint32_t>(layer_id[item / B]);
        const auto sample = static_cast<std::uint64_t>(sample_id[item % B]);
        // Key and position in one word: ordered by key, then by position, all different.
        auto* ranked = scratch<std::uint64_t>(exec, static_cast<std::size_t>(thread) * thread_bytes);  // (T)
        std::uint64_t* by_position = ranked + T;                                                       // (T)
#pragma omp simd
        for (std::int64_t t = 0; t < T; ++t) {
            const auto position = static_cast<std::uint32_t>(t);
            const std::uint32_t key =
                philox_u32(seed, RandomPurpose::token_drop, static_cast<std::uint64_t>(step), layer, sample, position);
            by_position[t] = std::uint64_t{key} << 32 | position;
        }
        std::copy_n(by_position, T, ranked);
        std::nth_element(ranked, ranked + K - 1, ranked + T);
        const std::uint64_t last_kept = ranked[K - 1];
        for (std::int64_t t = 0; t < T; ++t)
            if (by_position[t] <= last_kept) *kept++ = static_cast<std::int32_t>(t);
    });
}

std::size_t select_kept_tokens_workspace(int threads, std::int64_t T) {
    return static_cast<std::size_t>(threads) * scratch_bytes<std::uint64_t>(2 * T);
}

}  // namespace deft::kernels::cpu
