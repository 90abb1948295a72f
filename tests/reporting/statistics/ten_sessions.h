#pragma once
// Times of ten sessions.

#include <cmath>
#include <vector>

namespace deft::reporting {

// Five at 10 - c and five at 10 + c, c = sqrt(0.9): the mean is 10, the standard deviation 1.
inline std::vector<double> ten_sessions() {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) values.insert(values.end(), {10 - std::sqrt(0.9), 10 + std::sqrt(0.9)});
    return values;
}

}  // namespace deft::reporting
