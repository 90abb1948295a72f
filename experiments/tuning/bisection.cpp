#include "experiments/tuning/bisection.h"

namespace deft::experiments {

Search find_first_passing(std::size_t size, const std::function<std::optional<bool>(std::size_t)>& passes) {
    Search search;
    // False where it fails, and where the search is to stop.
    const auto ask = [&](std::size_t index) {
        const std::optional<bool> answer = passes(index);
        search.stopped = !answer;
        if (answer) search.tried.push_back({index, *answer});
        return answer.value_or(false);
    };
    if (size == 0) return search;
    const bool hardest = ask(0);
    if (hardest) search.best = 0;
    if (search.stopped || size == 1) return search;
    const bool easiest = ask(size - 1);
    if (search.stopped) return search;
    search.monotone = easiest || !hardest;
    if (hardest || !easiest) return search;

    std::size_t fails = 0;
    search.best = size - 1;
    while (*search.best - fails > 1) {
        const std::size_t middle = fails + (*search.best - fails) / 2;
        const bool middle_passes = ask(middle);
        if (search.stopped) return search;
        if (middle_passes)
            search.best = middle;
        else
            fails = middle;
    }
    return search;
}

}  // namespace deft::experiments
