#pragma once
// Elapsed time on the clock that never goes back.

#include <chrono>

namespace deft {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace deft
