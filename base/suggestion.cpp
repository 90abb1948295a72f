#include "base/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace deft {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    // Edits: insert, delete, replace, swap of neighbours. Three rows of the table are enough.
    const auto distance = [&](std::string_view other) {
        const std::size_t n = other.size();
        std::vector<std::size_t> before_last(n + 1), last(n + 1), row(n + 1);
        for (std::size_t j = 0; j <= n; ++j) row[j] = j;
        for (std::size_t i = 1; i <= word.size(); ++i) {
            before_last.swap(last);
            last.swap(row);
            row[0] = i;
            for (std::size_t j = 1; j <= n; ++j) {
                const std::size_t replaced = last[j - 1] + (word[i - 1] == other[j - 1] ? 0 : 1);
                row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
                if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
                    row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        return row[n];
    };
    std::string nearest;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string& candidate : candidates) {
        const std::size_t edits = distance(candidate);
        const std::size_t allowed = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
        if (edits <= allowed && edits < least && edits < std::max(word.size(), candidate.size())) {
            nearest = candidate;
            least = edits;
        }
    }
    return nearest;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known, const std::string& otherwise) {
    const std::string meant = did_you_mean(word, known);
    return meant.empty() ? otherwise : fmt::format("did you mean {}?", meant);
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    return suggestion(word, known, fmt::format("known: {}", fmt::join(known, ", ")));
}

}  // namespace deft
