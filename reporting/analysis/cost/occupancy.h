#pragma once
// How long at least one of some intervals lasts, and how many overlap at most.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace deft::reporting {

struct Occupancy {
    double seconds = 0;            // of the union, so that a pause between two runs does not count
    std::size_t most_at_once = 0;  // an end precedes a start at the same millisecond
};

// `intervals`: begin and end in milliseconds. An interval without a length counts for nothing.
Occupancy occupancy(const std::vector<std::pair<std::int64_t, std::int64_t>>& intervals);

}  // namespace deft::reporting
