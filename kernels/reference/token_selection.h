#pragma once
// The tokens that random-LTD keeps (Yao et al. 2022, section 3: a uniformly random subset for each layer), drawn as the
// K smallest of one random key a position.

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/philox.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// index (layers, B, K), ascending in each row; layer_id (layers), sample_id (B). Equal keys: the lower position is
// kept.
inline void select_kept_tokens(Exec&, std::int32_t* index, std::uint64_t seed, std::int64_t step,
                               const std::int32_t* layer_id, std::int64_t layers, const std::int64_t* sample_id,
                               std::int64_t B, std::int64_t T, std::int64_t K) {
    for (std::int64_t l = 0; l < layers; ++l)
        for (std::int64_t b = 0; b < B; ++b) {
            std::vector<std::pair<std::uint32_t, std::int32_t>> keyed;
            for (std::int64_t t = 0; t < T; ++t)
                keyed.emplace_back(philox_u32(seed, RandomPurpose::token_drop, static_cast<std::uint64_t>(step),
                                              static_cast<std::uint32_t>(layer_id[l]),
                                              static_cast<std::uint64_t>(sample_id[b]), static_cast<std::uint32_t>(t)),
                                   static_cast<std::int32_t>(t));
            std::sort(keyed.begin(), keyed.end());
            std::int32_t* kept = index + (l * B + b) * K;
            for (std::int64_t k = 0; k < K; ++k) kept[k] = keyed[static_cast<std::size_t>(k)].second;
            std::sort(kept, kept + K);
        }
}

inline std::size_t select_kept_tokens_workspace(int, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::reference
