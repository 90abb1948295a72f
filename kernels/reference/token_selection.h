#pragma once
// The tokens that a router keeps: the K smallest keys of each row (kernels/token_keys.h).

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/reference/exec.h"
#include "kernels/token_keys.h"

namespace deft::kernels::reference {

// index (rows, K), ascending in each row.
template <class Keys>
void select_kept_tokens(Exec&, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K) {
    for (std::int64_t row = 0; row < rows; ++row) {
        const typename Keys::Row of_row = keys.row(row, T);
        std::vector<std::pair<std::uint32_t, std::int32_t>> keyed;
        for (std::int64_t t = 0; t < T; ++t) keyed.emplace_back(of_row[t], static_cast<std::int32_t>(t));
        std::sort(keyed.begin(), keyed.end());
        std::int32_t* kept = index + row * K;
        for (std::int64_t k = 0; k < K; ++k) kept[k] = keyed[static_cast<std::size_t>(k)].second;
        std::sort(kept, kept + K);
    }
}

inline std::size_t select_kept_tokens_workspace(int, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::reference
