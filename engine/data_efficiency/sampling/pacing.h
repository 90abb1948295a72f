#pragma once
// Pacing: how a difficulty, or a number of kept tokens, grows with the step.

#include <cstdint>

namespace deft::engine {

// d(t) = floor((t / duration)^(1 / root_degree) * (max - min) + min), rounded down to a multiple, kept within [min,
// max] (arXiv 2212.03597, section 3.1: fixed_linear is root degree 1, fixed_root 2 and more).
struct Pacing {
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t multiple = 1;
    std::int64_t duration = 0;  // steps until max; 0: max from the start
    double root_degree = 1;
};

std::int64_t paced_value(const Pacing& pacing, std::int64_t t);

}  // namespace deft::engine
