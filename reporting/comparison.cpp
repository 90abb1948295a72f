#include "reporting/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "reporting/axes.h"
#include "reporting/notes.h"
#include "reporting/numbers.h"
#include "reporting/variants.h"

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

// Every score seen anywhere in the sweep, so that a gap shows as a gap.
Scores all_scores(const SweepResults& sweep) {
    Scores columns;
    for (const TrialRow& trial : sweep.trials)
        if (trial.state == "ok")
            for (const ScoreRow& row : trial.scores) columns[key_of(row)].push_back(&row);
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

// A resource: its value in one trial, and how it prints.
struct Resource {
    const char* title;
    std::optional<double> (*value)(const TrialRow&);
    std::string (*print)(double);
    bool with_ratio;
};

std::string whole_or_mean(double value) {
    return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

template <auto Member>
std::optional<double> of_point(const TrialRow& trial) {
    if (!trial.last_point) return std::nullopt;
    return static_cast<double>((*trial.last_point).*Member);
}

std::optional<double> wall_seconds(const TrialRow& trial) {
    if (!trial.last_point) return std::nullopt;
    return static_cast<double>(trial.last_point->wall_ms) / 1000;
}

// Over the whole run: the last step's own rate is noise.
std::optional<double> token_rate(const TrialRow& trial) {
    if (!trial.last_point || trial.last_point->wall_ms <= 0) return std::nullopt;
    return static_cast<double>(trial.last_point->input_tokens) * 1000 / static_cast<double>(trial.last_point->wall_ms);
}

std::optional<double> cost(const TrialRow& trial) {
    return trial.usd;
}

constexpr Resource kResources[] = {
    {"steps", of_point<&journal::TrainPoint::step>, whole_or_mean, false},
    {"input\ntokens", of_point<&journal::TrainPoint::input_tokens>, si, true},
    {"unique\ntokens", of_point<&journal::TrainPoint::unique_tokens>, si, true},
    {"layer-avg\ntokens", of_point<&journal::TrainPoint::layer_tokens>, si, true},
    {"FLOPs", of_point<&journal::TrainPoint::flops>, si, true},
    {"train\ntime", wall_seconds, short_seconds, true},
    {"tokens\nper s", token_rate, si, false},
    {"cost", cost, dollars, true},
};

// The mean over finished seeds; nothing where one of them lacks it, for a mean over fewer would not be comparable.
std::optional<double> mean_of(const Variant& variant, const Resource& resource) {
    std::vector<double> values;
    for (const TrialRow* trial : variant.ok) {
        const std::optional<double> value = resource.value(*trial);
        if (!value) return std::nullopt;
        values.push_back(*value);
    }
    if (values.empty()) return std::nullopt;
    return mean(values);
}

std::string resource_cell(const Variant& variant, const Variant& reference, const Resource& resource) {
    const std::optional<double> value = mean_of(variant, resource);
    if (!value) return "-";
    std::string text = resource.print(*value);
    if (!resource.with_ratio) return text;
    const std::optional<double> base = mean_of(reference, resource);
    if (base && *base > 0) text += " " + ratio(*value / *base);
    return text;
}

std::string score_cell(const Variant& variant, const ScoreKey& key) {
    std::vector<double> values;
    for (const TrialRow* trial : variant.ok)
        for (const ScoreRow& row : trial->scores)
            if (key_of(row) == key) values.push_back(row.value);
    std::string text = mean_and_spread(values);
    if (!values.empty() && values.size() < variant.ok.size())
        text += fmt::format(" [{} of {}]", values.size(), variant.ok.size());
    return text;
}

std::string seeds_cell(const Variant& variant) {
    const std::size_t all = variant.trials.size();
    return variant.ok.size() == all ? fmt::format("{}", all) : fmt::format("{} of {}", variant.ok.size(), all);
}

std::string axes_cell(const Variant& variant) {
    return variant.axes.others.empty() ? "-" : variant.axes.others_text();
}

bool any_budget(const std::vector<Variant>& variants) {
    return std::any_of(variants.begin(), variants.end(), [](const Variant& row) { return row.axes.has_budget; });
}

bool any_other_axis(const std::vector<Variant>& variants) {
    return std::any_of(variants.begin(), variants.end(), [](const Variant& row) { return !row.axes.others.empty(); });
}

std::vector<Column> score_columns(const Scores& scores) {
    std::vector<Column> columns;
    for (const auto& [key, rows] : scores) columns.push_back({score_title(key, rows, scores)});
    if (!columns.empty()) columns.front().begins_block = true;
    return columns;
}

}  // namespace

Table comparison_table(const SweepResults& sweep, const SweepAbout& about) {
    const std::vector<Variant> variants = variants_of(sweep);
    const std::string base_case = baseline_case(variants, about.baseline, sweep.name);
    const Scores scores = all_scores(sweep);
    const bool budget = any_budget(variants), axes = any_other_axis(variants);

    Table table;
    table.caption = "Sweep " + sweep.name + (about.title.empty() ? "" : ": " + about.title);
    table.columns.push_back({"case", Align::left});
    if (budget) table.columns.push_back({"budget"});
    if (axes) table.columns.push_back({"axes", Align::left});
    table.key_columns = table.columns.size();
    table.columns.push_back({"seeds"});
    for (const Resource& resource : kResources) table.columns.push_back({resource.title});
    for (Column& column : score_columns(scores)) table.columns.push_back(std::move(column));

    for (const Variant& variant : variants) {
        const Variant& reference = reference_of(variants, base_case, variant);
        std::vector<std::string> row = {variant.case_key};
        if (budget) row.push_back(variant.axes.budget_text());
        if (axes) row.push_back(axes_cell(variant));
        row.push_back(seeds_cell(variant));
        for (const Resource& resource : kResources) row.push_back(resource_cell(variant, reference, resource));
        for (const auto& [key, rows] : scores) row.push_back(score_cell(variant, key));
        table.rows.push_back(std::move(row));
    }
    table.notes = comparison_notes(sweep, variants, base_case, about);
    return table;
}

}  // namespace deft::reporting
