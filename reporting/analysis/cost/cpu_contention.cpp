#include "reporting/analysis/cost/cpu_contention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deft::reporting {

namespace {

constexpr double kAlike = 0.9;  // of the larger share

bool is_on_one_thread(const results_db::Shape& shape) {
    return shape.device == "cpu" && shape.devices == 1 && shape.trials_per_device == 1 && shape.ranks <= 1;
}

// Whether it occupied its thread and waited for nothing; older programs stored only the process's own figures.
double busy_seconds(const results_db::AttemptRow& attempt) {
    if (!attempt.held_seconds) return attempt.own_seconds.value_or(0);
    return *attempt.held_seconds - attempt.waited_seconds.value_or(0);
}

bool are_alike(double least, double most) {
    return least >= kAlike * most;
}

std::string share_of(const Row& row, double share) {
    return fmt::format("{} for {:.0f}%", row.name, 100 * share);
}

}  // namespace

std::optional<double> computing_share(const Row& row) {
    double computing = 0, held = 0;
    for (const Trial* trial : row.ok)
        for (const results_db::AttemptRow& attempt : trial->attempt_rows) {
            if (!attempt.counts) continue;
            const double seconds = busy_seconds(attempt);
            if (!is_on_one_thread(attempt.shape) || !attempt.cpu_seconds || !(*attempt.cpu_seconds > 0) ||
                !(seconds > 0))
                return std::nullopt;
            computing += *attempt.cpu_seconds;
            held += seconds;
        }
    return held > 0 ? std::optional(std::min(1.0, computing / held)) : std::nullopt;
}

bool have_equal_contention(const Row& a, const Row& b) {
    const std::optional<double> of_a = computing_share(a), of_b = computing_share(b);
    return !of_a || !of_b || are_alike(std::min(*of_a, *of_b), std::max(*of_a, *of_b));
}

std::string contention_differs(const std::vector<const Row*>& rows, const std::string& quantity) {
    std::vector<std::string> shown;
    std::vector<double> shares;
    for (const Row* row : rows)
        if (const std::optional<double> share = computing_share(*row)) {
            shown.push_back(share_of(*row, *share));
            shares.push_back(*share);
        }
    if (shares.empty()) return {};
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    if (are_alike(*least, *most)) return {};
    return fmt::format(
        "{}: compared only between trials of equal CPU contention; share of their time that computed: {}", quantity,
        fmt::join(shown, ", "));
}

std::vector<std::string> contention_notes(const std::vector<Row>& rows, const std::string& base_recipe) {
    const References references(rows, base_recipe);
    std::vector<std::string> slowed;
    for (const Row& row : rows) {
        const Row& reference = references.of(row);
        if (!have_equal_contention(row, reference))
            slowed.push_back(share_of(row, *computing_share(row)) + ", against " +
                             share_of(reference, *computing_share(reference)));
    }
    if (slowed.empty()) return {};
    return {
        fmt::format("CPU contention: of the time that they held their thread, these computed another share than their "
                    "baseline, because "
                    "other work ran beside them: {}. Such a row has no ratio of times or dollars.",
                    fmt::join(slowed, "; "))};
}

}  // namespace deft::reporting
