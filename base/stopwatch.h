#pragma once
// Elapsed time from a monotonic clock, and the date from the system clock.

#include <chrono>
#include <cstdint>

namespace deft {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Milliseconds since 1970, as the journal and the database keep times.
inline std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace deft
