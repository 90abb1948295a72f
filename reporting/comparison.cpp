#include "reporting/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

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

// What tells one score column from another.
using ScoreKey = std::tuple<std::string, std::string, std::int64_t, std::string, std::string>;

ScoreKey key_of(const ScoreRow& row) {
    return {row.task, row.split, row.shots, row.metric, row.unit};
}

// Every score seen anywhere in the sweep, so that a gap shows as a gap.
std::map<ScoreKey, std::vector<const ScoreRow*>> all_scores(const SweepResults& sweep) {
    std::map<ScoreKey, std::vector<const ScoreRow*>> columns;
    for (const TrialRow& trial : sweep.trials)
        if (trial.state == "ok")
            for (const ScoreRow& row : trial.scores) columns[key_of(row)].push_back(&row);
    return columns;
}

std::string score_title(const std::vector<const ScoreRow*>& rows, bool name_split) {
    const ScoreRow& row = *rows.front();
    std::string title = row.task + " " + row.metric;
    if (name_split && !row.split.empty()) title += " on " + row.split;
    if (row.shots > 0) title += fmt::format(" {}-shot", row.shots);
    if (!row.unit.empty()) title += " [" + row.unit + "]";
    if (row.better == "lower") title += " ↓";
    if (row.better == "higher") title += " ↑";
    const bool one_chance =
        std::all_of(rows.begin(), rows.end(), [&](const ScoreRow* other) { return other->chance == row.chance; });
    if (one_chance) title += fmt::format(" (chance {:.3g})", row.chance);  // never for NaN, which equals nothing
    return title;
}

// Two columns of one title would be told apart by nothing.
bool split_is_needed(const ScoreKey& key, const std::map<ScoreKey, std::vector<const ScoreRow*>>& columns) {
    const auto& [task, split, shots, metric, unit] = key;
    for (const auto& [other, rows] : columns)
        if (std::get<0>(other) == task && std::get<1>(other) != split && std::get<2>(other) == shots &&
            std::get<3>(other) == metric && std::get<4>(other) == unit)
            return true;
    return false;
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
    {"input tokens", of_point<&journal::TrainPoint::input_tokens>, si, true},
    {"unique corpus tokens", of_point<&journal::TrainPoint::unique_tokens>, si, true},
    {"layer-averaged tokens", of_point<&journal::TrainPoint::layer_tokens>, si, true},
    {"FLOPs", of_point<&journal::TrainPoint::flops>, si, true},
    {"train wall time", wall_seconds, seconds, true},
    {"input tokens/s", token_rate, si, false},
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
    if (base && *base > 0) text += " (" + ratio(*value / *base) + ")";
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

std::string caption(const SweepResults& sweep, const std::string& scale) {
    std::string text = "Sweep " + sweep.name;
    if (scale.empty()) return text;
    // A bare name is spelled out; a sentence is taken as it is.
    if (scale.find(' ') != std::string::npos) return text + ", " + scale;
    text += ", " + scale + " scale";
    return scale == "paper" ? text : text + ": too small to carry a claim about the paper's models";
}

}  // namespace

Table comparison_table(const SweepResults& sweep, const std::string& baseline, const std::string& scale) {
    Table table;
    table.caption = caption(sweep, scale);
    const std::vector<Variant> variants = variants_of(sweep);
    const bool any_budget =
        std::any_of(variants.begin(), variants.end(), [](const Variant& variant) { return variant.axes.has_budget; });
    const bool any_other = std::any_of(variants.begin(), variants.end(),
                                       [](const Variant& variant) { return !variant.axes.others.empty(); });
    const auto scores = all_scores(sweep);

    table.columns.push_back({"case", Align::left});
    if (any_budget) table.columns.push_back({"budget"});
    if (any_other) table.columns.push_back({"axes", Align::left});
    table.columns.push_back({"seeds"});
    for (const Resource& resource : kResources) table.columns.push_back({resource.title});
    for (const auto& [key, rows] : scores) table.columns.push_back({score_title(rows, split_is_needed(key, scores))});

    const std::string base_case = baseline_case(variants, baseline, sweep.name);
    for (const Variant& variant : variants) {
        const Variant& reference = reference_of(variants, base_case, variant);
        std::vector<std::string> row = {variant.case_key};
        if (any_budget) row.push_back(variant.axes.budget_text());
        if (any_other) row.push_back(variant.axes.others.empty() ? "-" : variant.axes.others_text());
        row.push_back(seeds_cell(variant));
        for (const Resource& resource : kResources) row.push_back(resource_cell(variant, reference, resource));
        for (const auto& [key, rows] : scores) row.push_back(score_cell(variant, key));
        table.rows.push_back(std::move(row));
    }
    table.notes = comparison_notes(sweep, variants, base_case);
    return table;
}

}  // namespace deft::reporting
