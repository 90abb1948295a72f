#pragma once
// Where a stretch of a series parts best into two (E-divisive, Matteson and James 2014, with distances to the power 1).

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace deft::reporting {

struct EnergySplit {
    std::size_t index = 0;  // the first value of the right part
    double divergence = 0;  // n m / (n + m) times the energy distance of the parts; larger is more unlike
};

// Finds splits of any stretch of one series, whose pairwise distances are summed once.
class EnergySplits {
 public:
    explicit EnergySplits(std::span<const double> series);

    // The split of [begin, end) at which [begin, t) and [t, k) diverge most, over all t and all k <= end that leave
    // `shortest` values or more in both. Nothing where the stretch is too short.
    std::optional<EnergySplit> best(std::size_t begin, std::size_t end, std::size_t shortest) const;

 private:
    // The sum of distances between the values of [a, b) and of [c, d).
    double distances(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const;
    double divergence(std::size_t begin, std::size_t split, std::size_t end) const;

    std::size_t stride_;
    std::vector<double> sums_;  // (n + 1, n + 1): distances between the first i and the first j values
};

}  // namespace deft::reporting
