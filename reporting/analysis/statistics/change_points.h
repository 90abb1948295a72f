#pragma once
// The sessions at which a measure settled on another level: E-divisive in windows, then a second look at every point
// found, as Apache Otava does it ("Hunter", Fleming et al. 2023). Four things differ: a segment has three sessions
// or more, spreads are those of samples, the test is Welch's, and no permutation is drawn, so that one series has one
// answer. Adjust the p-values over all series of a report (benjamini_hochberg) before calling any of them news.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace deft::reporting {

struct ChangePointRule {
    std::size_t window = 50;        // sessions searched at once; windows overlap by half
    std::size_t shortest = 3;       // sessions between two changes
    double candidate_alpha = 0.01;  // Welch's test within a window, to go on splitting
    double final_alpha = 0.001;     // Welch's test between neighbouring levels
    double smallest_change = 0.03;  // the higher level over the lower one, less 1
};

struct ChangePoint {
    std::size_t index = 0;         // the first session on the new level
    double before = 0, after = 0;  // means over the sessions between this change and its neighbours
    double p_value = 1;            // Welch's, of those sessions: too small, since the place was chosen to make it so

    double ratio() const { return after / before; }
};

// One value a session (the median over its launches), oldest first, positive and finite; errors (data) otherwise,
// (config) a rule with windows or segments too short to hold two parts. Changes in time's order.
// A slow drift has no levels: it appears as one or more steps once it exceeds the smallest change.
std::vector<ChangePoint> change_points(std::span<const double> series, const ChangePointRule& rule = {});

struct AlertRule {
    std::size_t recent = 10;  // sessions from the end in which a change is news
    std::size_t after = 3;    // sessions on the new level before it is reported
};

// Whether a change in a series with that number of sessions is worth reporting.
bool is_news(const ChangePoint& change, std::size_t sessions, const AlertRule& rule = {});

// Where a stretch of a series parts best into two (E-divisive, Matteson and James 2014, with distances to the power 1).

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
