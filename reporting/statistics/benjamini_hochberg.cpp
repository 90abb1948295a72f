#include "reporting/statistics/benjamini_hochberg.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace deft::reporting {

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
    for (double p : p_values)
        if (!(p >= 0 && p <= 1)) throw Error(ErrorKind::data, fmt::format("{} is not a p-value", p));
    std::vector<std::size_t> by_p(p_values.size());
    std::iota(by_p.begin(), by_p.end(), std::size_t{0});
    std::sort(by_p.begin(), by_p.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });

    std::vector<double> adjusted(p_values.size());
    double smallest = 1;  // of those with a larger p
    for (std::size_t rank = by_p.size(); rank >= 1; --rank) {
        const double scaled = p_values[by_p[rank - 1]] * static_cast<double>(by_p.size()) / static_cast<double>(rank);
        smallest = std::min(smallest, scaled);
        adjusted[by_p[rank - 1]] = smallest;
    }
    return adjusted;
}

}  // namespace deft::reporting
