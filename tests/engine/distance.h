#pragma once
// How far two runs' weights are from each other.

#include <cmath>
#include <vector>

namespace deft::engine {

// Root mean square of the difference, relative to that of `b`.
inline double rms_distance(const std::vector<float>& a, const std::vector<float>& b) {
    double error = 0, power = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        error += difference * difference;
        power += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    }
    return std::sqrt(error / power);
}

}  // namespace deft::engine
