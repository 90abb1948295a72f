#include "reporting/suite_average.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace deft::reporting {

namespace {

using results_db::ScoreRow;

// Of the 19 tasks of the published averages, those whose metric there is not acc.
const char* published_metric(const std::string& task) {
    static const std::map<std::string, const char*> metrics = {
        {"hellaswag", "acc_norm"}, {"piqa", "acc_norm"},       {"arc_challenge", "acc_norm"},
        {"arc_easy", "acc_norm"},  {"openbookqa", "acc_norm"}, {"multirc", "acc_all"},
        {"record", "f1"}};
    const auto found = metrics.find(task);
    return found == metrics.end() ? nullptr : found->second;
}

// A task that is none of the published ones counts by acc, or by acc_norm where it has nothing else.
int preference(const ScoreRow& row) {
    if (const char* metric = published_metric(row.task)) return row.metric == metric ? 2 : 0;
    if (row.metric == "acc") return 2;
    return row.metric == "acc_norm" ? 1 : 0;
}

}  // namespace

std::optional<SuiteAverage> suite_average(const std::vector<ScoreRow>& scores, std::int64_t shots) {
    std::map<std::string, const ScoreRow*> best;
    for (const ScoreRow& row : scores) {
        if (row.shots != shots || preference(row) == 0) continue;
        const ScoreRow*& kept = best[row.task];
        if (kept == nullptr || preference(row) > preference(*kept)) kept = &row;
    }
    if (best.empty()) return std::nullopt;
    SuiteAverage average;
    for (const auto& [task, row] : best) {
        average.percent += row->value * 100;
        average.tasks.push_back(task);
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
