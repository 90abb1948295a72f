#pragma once
// SQLite stores NaN as NULL, so a number's kind travels beside it.

#include <cmath>
#include <cstdint>
#include <limits>

namespace deft::results_db {

// 0 finite, 1 NaN, 2 +inf, 3 -inf.
inline std::int64_t kind_of(double value) {
    if (std::isnan(value)) return 1;
    if (std::isinf(value)) return value > 0 ? 2 : 3;
    return 0;
}

inline double restore(double stored, std::int64_t kind) {
    switch (kind & 3) {
        case 1:
            return std::numeric_limits<double>::quiet_NaN();
        case 2:
            return std::numeric_limits<double>::infinity();
        case 3:
            return -std::numeric_limits<double>::infinity();
        default:
            return stored;
    }
}

}  // namespace deft::results_db
