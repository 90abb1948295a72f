#include "reporting/analysis/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/published/published.h"
#include "reporting/analysis/scores/measured.h"
#include "results_db/row_name.h"
#include "results_db/sweep_heads.h"

namespace deft::reporting {

namespace {

using Kind = CompareSide::Kind;

void require_comparable(const CompareSide& a, const CompareSide& b) {
    if ((a.kind == Kind::sweep) != (b.kind == Kind::sweep))
        throw Error(ErrorKind::usage,
                    fmt::format("{} is a sweep and {} is not", (a.kind == Kind::sweep ? a : b).name,
                                (a.kind == Kind::sweep ? b : a).name),
                    "compare two sweeps, or name a row or a trial of the sweep: SWEEP:RECIPE");
    if (a.name == b.name && a.sweep->spec_sha256 == b.sweep->spec_sha256)
        throw Error(ErrorKind::usage, fmt::format("{} is on both sides", a.name), "name two trials, rows or sweeps");
}

// Hosts and slot shapes of all attempts that the results were built on.
std::string slots_of(const Row& row) {
    std::set<std::string> slots;
    for (const Trial* trial : row.ok)
        for (const results_db::AttemptRow& attempt : trial->attempt_rows)
            if (attempt.counts) slots.insert(fmt::format("{} of {}", shape_text(attempt.shape), attempt.host.hostname));
    return slots.empty() ? "an unknown machine" : fmt::format("{}", fmt::join(slots, ", "));
}

void note_trials(const Row& row, std::vector<std::string>& notes) {
    const std::size_t diverged = diverged_trials(row), others = row.trials.size() - row.ok.size() - diverged;
    if (diverged > 0)
        notes.push_back(
            fmt::format("{} of {} diverged: means over the others flatter it.", counted(diverged, "trial"), row.name));
    if (others > 0)
        notes.push_back(fmt::format("{} of {} not finished, and in no number here: {}.", others,
                                    counted(row.trials.size(), "trial"), row.name));
}

void note_losses(const RowComparison& rows, const Row& a, const Row& b, std::vector<std::string>& notes) {
    if (!rows.losses.missing.empty()) {
        notes.push_back(fmt::format("No losses at equal cost: {}.", rows.losses.missing));
        return;
    }
    notes.emplace_back(
        "Losses are means over seeds, read between the points of each seed's curve (linear in the logarithm of the "
        "cost) and never beyond them. An interval is for its own cost alone. Before its end a run is not what a "
        "shorter run would be, whose learning rate has come down.");
    if (!rows.losses.is_validation)
        notes.emplace_back(
            "These are training losses, each the mean over the last twentieth of the shorter run's cost. Under a "
            "curriculum they are losses on the samples that it admits. Runs of token models with eval.every are "
            "compared by validation loss.");
    if (!a.stage.empty() || !b.stage.empty()) notes.emplace_back("What earlier stages cost is not in it.");
    const bool by_machine = rows.losses.by == Cost::seconds || rows.losses.by == Cost::usd;
    if (const std::string of_a = slots_of(a), of_b = slots_of(b); by_machine && of_a != of_b)
        notes.push_back(
            fmt::format("A ran on {}; B ran on {}: their times compare no further than these do.", of_a, of_b));
}

// With its sweep, as another command line takes it.
std::string row_name(const CompareSide& side, const Row& row) {
    return results_db::full_name(*side.sweep) + ":" + row.name;
}

RowComparison compare_rows(const CompareSide& a, const Row& row_a, const CompareSide& b, const Row& row_b, Cost by,
                           const ItemsOf& items, std::map<std::string, VarianceChoice>& variances) {
    RowComparison rows;
    for (const Trial* trial : row_a.ok) rows.trials_a.push_back(trial->config_hash);
    for (const Trial* trial : row_b.ok) rows.trials_b.push_back(trial->config_hash);
    rows.a = row_name(a, row_a);
    rows.b = row_name(b, row_b);
    rows.configuration =
        configuration_differences(row_a.trials.front()->config_json, row_b.trials.front()->config_json);
    rows.curves = compared_curves(row_a, *a.curves, row_b, *b.curves, by);
    rows.losses = at_equal_cost(rows.curves);
    rows.scores = score_differences({a.sweep, a.rows, &row_a, &variances}, {b.sweep, b.rows, &row_b});
    if (a.kind == Kind::trial && b.kind == Kind::trial)
        rows.items = item_differences(*row_a.trials.front(), *row_b.trials.front(), items);
    for (const Row* row : {&row_a, &row_b}) note_trials(*row, rows.notes);
    note_losses(rows, row_a, row_b, rows.notes);
    if (const std::size_t shared = shared_trainings(row_a, row_b); shared > 0) {
        for (EqualCostRow& row : rows.losses.rows) row.interval.reset();
        for (std::optional<Reached>* reached : {&rows.losses.of_a, &rows.losses.of_b})
            if (*reached) (*reached)->range.reset();
        rows.notes.push_back(fmt::format("{} on both sides: the two are not independent, and have no interval.",
                                         shared == 1 ? "One training is" : fmt::format("{} trainings are", shared)));
    }
    return rows;
}

bool are_counterparts(const Row& one, const Row& other, Kind kind) {
    if (kind == Kind::sweep) return one.name == other.name;
    return one.stage == other.stage && results_db::same_budget(one.axes.budget_fraction, other.axes.budget_fraction) &&
           one.axes.is_like(other.axes);
}

const Row* counterpart(const Row& row, const std::vector<Row>& others, Kind kind) {
    for (const Row& other : others)
        if (are_counterparts(row, other, kind)) return &other;
    return nullptr;
}

std::vector<std::string> without_counterpart(const CompareSide& side, const CompareSide& other) {
    std::vector<std::string> names;
    for (const Row& row : side.chosen)
        if (counterpart(row, other.chosen, side.kind) == nullptr) names.push_back(row.name);
    return names;
}

bool are_the_same(const Row& a, const Row& b) {
    return a.trials.size() == b.trials.size() && shared_trainings(a, b) == b.trials.size();
}

[[noreturn]] void refuse_duplicates(const std::string& a, const std::string& b) {
    throw Error(ErrorKind::usage, fmt::format("{} and {} are the same trainings", a, b), "name two that differ");
}

void compare_counterparts(const CompareSide& a, const CompareSide& b, Cost by, const ItemsOf& items,
                          std::map<std::string, VarianceChoice>& variances, Comparison& comparison) {
    for (const Row& row : a.chosen)
        if (const Row* other = counterpart(row, b.chosen, a.kind)) {
            if (are_the_same(row, *other))
                comparison.same.push_back(row.name);
            else
                comparison.rows.push_back(compare_rows(a, row, b, *other, by, items, variances));
        }
    comparison.only_a = without_counterpart(a, b);
    comparison.only_b = without_counterpart(b, a);
    if (comparison.rows.empty() && !comparison.same.empty()) refuse_duplicates(a.name, b.name);
    if (comparison.rows.empty())
        throw Error(ErrorKind::usage, fmt::format("{} and {} have no row in common", a.name, b.name),
                    fmt::format("name one row of either: {} and {}", row_name(a, a.chosen.front()),
                                row_name(b, b.chosen.front())));
}

}  // namespace

Comparison compare(const CompareSide& a, const CompareSide& b, Cost by, const ItemsOf& items) {
    require_comparable(a, b);
    Comparison comparison{a.name, b.name, {}, {}, {}, {}, *a.sweep, *b.sweep};
    std::map<std::string, VarianceChoice> variances;  // of the sweep of A
    const bool is_one_pair = a.kind != Kind::sweep && a.chosen.size() == 1 && b.chosen.size() == 1;
    if (is_one_pair && are_the_same(a.chosen.front(), b.chosen.front())) refuse_duplicates(a.name, b.name);
    if (is_one_pair)
        comparison.rows.push_back(compare_rows(a, a.chosen.front(), b, b.chosen.front(), by, items, variances));
    else
        compare_counterparts(a, b, by, items, variances, comparison);
    std::vector<ScoreDifference*> family;
    for (RowComparison& rows : comparison.rows)
        for (ScoreDifference& one : rows.scores) family.push_back(&one);
    judge(family);
    return comparison;
}

}  // namespace deft::reporting
