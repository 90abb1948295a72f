#include "reporting/analysis/scores/suite_average.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/score_key.h"
#include "reporting/analysis/results/stale.h"

namespace deft::reporting {

namespace {

// A task that is none of the suite's counts by acc, or by acc_norm where it has nothing else.
int preference(const Suite& suite, const Score& row) {
    if (row.task == kValidationTask) return 0;
    if (const SuiteTask* task = suite.find(row.task)) return row.measure == task->measure ? 2 : 0;
    if (row.measure == "acc") return 2;
    return row.measure == "acc_norm" ? 1 : 0;
}

}  // namespace

std::optional<SuiteAverage> suite_average(const Suite& suite, const std::vector<Score>& scores, std::int64_t shots) {
    std::map<std::pair<std::string, std::string>, const Score*> best;  // by task and split
    for (const Score& row : scores) {
        if (row.shots != shots || preference(suite, row) == 0) continue;
        const Score*& kept = best[{row.task, row.split}];
        if (kept == nullptr || preference(suite, row) > preference(suite, *kept)) kept = &row;
    }
    if (best.empty()) return std::nullopt;
    SuiteAverage average;
    for (const auto& [key, row] : best) {
        const auto splits =
            std::count_if(best.begin(), best.end(), [&](const auto& other) { return other.first.first == row->task; });
        average.percent += row->value * 100;
        average.rows.push_back(row);
        add_reasons(average.stale, row->stale);
        average.tasks.push_back(splits > 1 ? row->task + "/" + row->split : row->task);
    }
    average.percent /= static_cast<double>(best.size());
    return average;
}

double round_significant(double value, int digits) {
    return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

std::string significant(double value, int digits) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
    const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
    return fmt::format("{:.{}f}", round_significant(value, digits), std::max(0, digits - 1 - exponent));
}

}  // namespace deft::reporting
