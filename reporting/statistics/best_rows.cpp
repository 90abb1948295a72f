#include "reporting/statistics/best_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reporting/numbers.h"
#include "reporting/statistics/contrast.h"

namespace deft::reporting {

namespace {

bool counts(const std::vector<double>& row) {
    return row.size() >= kFewestSeeds &&
           std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

ContrastTerm term_of(double coefficient, const std::vector<double>& row) {
    ContrastTerm term{coefficient, {}};
    for (std::size_t seed = 0; seed < row.size(); ++seed) term.values.push_back({static_cast<std::int64_t>(seed), row[seed]});
    return term;
}

}  // namespace

std::vector<bool> best_rows(std::span<const std::vector<double>> rows, Improves improves, double level) {
    std::vector<bool> marked(rows.size(), false);
    std::vector<std::vector<double>> counting;
    for (const std::vector<double>& row : rows)
        if (counts(row)) counting.push_back(row);
    if (counting.size() < 2) return marked;
    const double sign = improves == Improves::upwards ? 1 : -1;
    const std::vector<double>& best = *std::max_element(
        counting.begin(), counting.end(), [&](const auto& a, const auto& b) { return sign * mean(a) < sign * mean(b); });
    const ContrastRule rule{ContrastMethod::pooled, pooled_variance(counting)};
    const double of_each = level / static_cast<double>(counting.size() - 1);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!counts(rows[row])) continue;
        const ContrastTerm terms[] = {term_of(sign, best), term_of(-sign, rows[row])};
        marked[row] = chance_above(contrast(terms, rule), 0) > of_each;
    }
    return marked;
}

}  // namespace deft::reporting
