#include "reporting/analysis/cost/occupancy.h"

#include <algorithm>

namespace deft::reporting {

Occupancy occupancy(const std::vector<std::pair<std::int64_t, std::int64_t>>& intervals) {
    std::vector<std::pair<std::int64_t, int>> changes;
    for (const auto& [begin, end] : intervals) {
        if (begin <= 0 || end <= begin) continue;
        changes.emplace_back(begin, 1);
        changes.emplace_back(end, -1);
    }
    std::sort(changes.begin(), changes.end());
    Occupancy found;
    std::int64_t since = 0, total_ms = 0;
    int running = 0;
    for (const auto& [time, change] : changes) {
        if (running == 0) since = time;
        running += change;
        if (running == 0) total_ms += time - since;
        found.most_at_once = std::max(found.most_at_once, static_cast<std::size_t>(running));
    }
    found.seconds = static_cast<double>(total_ms) / 1000;
    return found;
}

}  // namespace deft::reporting
