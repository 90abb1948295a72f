#include "engine/data_efficiency/sampling/pacing.h"

#include <algorithm>
#include <cmath>

namespace deft::engine {

std::int64_t paced_value(const Pacing& p, std::int64_t t) {
    if (t >= p.duration) return p.max;
    const double fraction = static_cast<double>(t) / static_cast<double>(p.duration);
    const double grown = p.root_degree == 1 ? fraction : std::pow(fraction, 1 / p.root_degree);
    auto value =
        static_cast<std::int64_t>(std::floor(grown * static_cast<double>(p.max - p.min) + static_cast<double>(p.min)));
    value -= value % p.multiple;
    return std::clamp(value, p.min, p.max);
}

}  // namespace deft::engine
