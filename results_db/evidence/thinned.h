#pragma once
// Fewer points of a long curve.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace deft::results_db {

// Selects from ascending steps the first, the last, and others evenly between them: `most` at most, and 2 at least; 0:
// all. The last one up to `until` is kept too, where that is given.
inline std::vector<std::int64_t> thinned(const std::vector<std::int64_t>& steps, std::size_t most,
                                         std::optional<std::int64_t> until = {}) {
    if (most == 0 || steps.size() <= most) return steps;
    most = std::max<std::size_t>(most, 2);
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < most; ++i) kept.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
    if (until) {
        const auto after = std::upper_bound(steps.begin(), steps.end(), *until);
        if (after != steps.begin()) kept.push_back(*std::prev(after));
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
}

}  // namespace deft::results_db
