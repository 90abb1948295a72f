#include "reporting/score_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "reporting/measured.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::ScoreRow;
using results_db::SweepResults;
using results_db::TrialRow;

// What tells one score column from another, in the order of the columns: what every model has first.
struct ScoreKey {
    int rank = 0;
    std::string task, split;
    std::int64_t shots = 0;
    std::string metric, unit, better;

    auto operator<=>(const ScoreKey&) const = default;
};

int rank_of(const ScoreRow& row) {
    if (row.task == "validation") return 0;
    return row.better == "higher" ? 1 : 2;
}

ScoreKey key_of(const ScoreRow& row) {
    return {rank_of(row), row.task, row.split, row.shots, row.metric, row.unit, row.better};
}

using Scores = std::map<ScoreKey, std::vector<const ScoreRow*>>;

Scores all_scores(const SweepResults& sweep) {
    Scores columns;
    for (const TrialRow& trial : sweep.trials)
        if (trial.state == "ok")
            for (const ScoreRow& row : trial.scores)
                if (!is_unigram_entropy(row)) columns[key_of(row)].push_back(&row);
    return columns;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

std::string without_prefix(const std::string& task) {
    constexpr std::string_view kPrefix = "embedded_";
    return task.starts_with(kPrefix) ? task.substr(kPrefix.size()) : task;
}

std::string task_text(const ScoreKey& key, const Scores& scores) {
    const std::string text = without_prefix(key.task);
    for (const auto& [other, rows] : scores)
        if (other.task != key.task && without_prefix(other.task) == text) return replaced(key.task, "_", " ");
    return replaced(text, "_", " ");
}

std::string metric_text(const ScoreKey& key) {
    return replaced(replaced(key.metric, "_per_", "/"), "_", " ");
}

const char* arrow(const ScoreKey& key) {
    if (key.better == "lower") return " ↓";
    return key.better == "higher" ? " ↑" : "";
}

// Two columns of one title would be told apart by nothing.
bool split_is_needed(const ScoreKey& key, const Scores& scores) {
    return std::any_of(scores.begin(), scores.end(), [&](const auto& column) {
        ScoreKey other = column.first;
        const bool differs = other.split != key.split;
        other.split = key.split;
        return differs && other == key;
    });
}

std::string score_title(const ScoreKey& key, const std::vector<const ScoreRow*>& rows, const Scores& scores) {
    const std::string metric = metric_text(key);
    std::vector<std::string> details;
    if (!key.split.empty() && split_is_needed(key, scores)) details.push_back(key.split);
    if (key.shots > 0) details.push_back(fmt::format("{}-shot", key.shots));
    if (!key.unit.empty() && metric.find(key.unit) == std::string::npos) details.push_back(key.unit);
    const double chance = rows.front()->chance;
    // Never for NaN, which equals nothing.
    if (std::all_of(rows.begin(), rows.end(), [&](const ScoreRow* row) { return row->chance == chance; }))
        details.push_back(fmt::format("chance {:.3g}", chance));
    std::string title = task_text(key, scores) + "\n" + metric + arrow(key);
    if (!details.empty()) title += fmt::format("\n({})", fmt::join(details, ", "));
    return title;
}

Cell score_cell(const Variant& variant, const ScoreKey& key) {
    std::vector<double> values;
    for (const TrialRow* trial : variant.ok)
        for (const ScoreRow& row : trial->scores)
            if (key_of(row) == key) values.push_back(row.value);
    if (values.empty()) return "-";
    Cell cell(mean_and_spread(values), mean(values));
    if (values.size() > 1) cell.spread = standard_deviation(values);
    if (values.size() < variant.ok.size()) cell.text += fmt::format(" [{} of {}]", values.size(), variant.ok.size());
    return cell;
}

}  // namespace

std::vector<Field> score_fields(const SweepResults& sweep) {
    const Scores scores = all_scores(sweep);
    std::vector<Field> fields;
    for (const auto& [key, rows] : scores)
        fields.emplace_back(Column{score_title(key, rows, scores)},
                            [score_key = key](const Variant& variant) { return score_cell(variant, score_key); });
    return fields;
}

}  // namespace deft::reporting
