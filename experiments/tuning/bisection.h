#pragma once
// The first of a row of settings that passes, where each is easier to pass than the one before it.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace deft::experiments {

struct Search {
    struct Tried {
        std::size_t index = 0;
        bool passes = false;
    };
    std::vector<Tried> tried;         // in the order of asking
    std::optional<std::size_t> best;  // the first index known to pass; none where neither end does
    bool monotone = true;  // false: the hardest setting passes and the easiest does not, which the search assumes away
    bool stopped = false;  // before its end; `best` is then the best so far
};

// Asks both ends, then bisects between them: 2 + ceil(log2(size - 1)) questions at most. Index 0 is the hardest to
// pass. `passes` gives nothing where the search is to stop.
Search find_first_passing(std::size_t size, const std::function<std::optional<bool>(std::size_t)>& passes);

}  // namespace deft::experiments
