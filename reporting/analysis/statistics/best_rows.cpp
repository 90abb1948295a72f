#include "reporting/analysis/statistics/best_rows.h"

#include <algorithm>
#include <cstddef>

#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/statistics/variance_choice.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

bool counts(const std::vector<double>& row) {
    return row.size() >= kFewestSeeds && all_finite(row);
}

bool are_one_value(const std::vector<std::vector<double>>& rows) {
    const double one = rows.front().front();
    return std::all_of(rows.begin(), rows.end(), [&](const std::vector<double>& row) {
        return std::all_of(row.begin(), row.end(), [&](double value) { return value == one; });
    });
}

}  // namespace

std::vector<bool> best_rows(std::span<const std::vector<double>> rows, Improves improves, double level) {
    std::vector<bool> marked(rows.size(), false);
    std::vector<std::vector<double>> counting;
    for (const std::vector<double>& row : rows)
        if (counts(row)) counting.push_back(row);
    if (counting.size() < 2 || are_one_value(counting)) return marked;
    const double sign = improves == Improves::upwards ? 1 : -1;
    const std::vector<double>& best =
        *std::max_element(counting.begin(), counting.end(),
                          [&](const auto& a, const auto& b) { return sign * mean(a) < sign * mean(b); });
    for (const std::vector<double>& row : rows)
        if (!counts(row) && !row.empty() && all_finite(row) && sign * mean(row) > sign * mean(best)) return marked;
    std::size_t fewest = counting.front().size();
    for (const std::vector<double>& row : counting) fewest = std::min(fewest, row.size());
    const ContrastRule rule = choose_variance(counting, fewest).rule;
    const double of_each = level / static_cast<double>(counting.size() - 1);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!counts(rows[row])) continue;
        const ContrastTerm terms[] = {unpaired_term(sign, best), unpaired_term(-sign, rows[row])};
        marked[row] = chance_above(contrast(terms, rule), 0) > of_each;
    }
    return marked;
}

}  // namespace deft::reporting
