#include "reporting/analysis/compare/score_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/score_key.h"
#include "base/text.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/scores/chance_level.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/statistics/case_family.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr double kScoreConfidence = 0.95;

std::string stale_scores(const ScoredSide& side, const ScoreColumn& column) {
    std::string stale = stale_training(*side.row);
    for (const Trial* trial : side.row->ok)
        if (const Score* row = column.find(*trial)) add_reasons(stale, row->stale);
    return stale;
}

// The key of the score that was asked of the models; for validation, whose key is of its name, the
// training data that the validation's text is of.
std::set<std::string> asked_of(const ScoredSide& side, const ScoreColumn& column) {
    std::set<std::string> keys;
    for (const Trial* trial : side.row->ok)
        if (const Score* row = column.find(*trial))
            keys.insert(fmt::format("{}|{}|{}", row->score_key, row->n,
                                    column.id.task == kValidationTask ? trial->dataset_sha256 : ""));
    return keys;
}

std::string why_no_side(const ScoredSide& side, const ScoreColumn& column, const std::vector<double>& values) {
    const std::string& name = side.row->name;
    if (side.row->ok.empty()) return fmt::format("no seed of {} has finished", name);
    if (values.empty()) return fmt::format("{} is not scored by it", name);
    if (const std::size_t diverged = diverged_trials(*side.row); diverged > 0)
        return fmt::format("{} of {} diverged: the mean over the others would be too good", counted(diverged, "trial"),
                           name);
    const auto scored = static_cast<std::size_t>(std::count_if(
        side.row->ok.begin(), side.row->ok.end(), [&](const Trial* trial) { return column.find(*trial) != nullptr; }));
    if (scored < side.row->ok.size())
        return fmt::format("{} of {} finished trials of {} are scored by it", scored, side.row->ok.size(), name);
    if (!all_finite(values)) return fmt::format("{} has a score that is not finite", name);
    if (const std::string why = not_measured(*side.row); !why.empty())
        return fmt::format("{} does not count as measured: {}", name, why);
    if (const std::string why = stale_scores(side, column); !why.empty())
        return fmt::format("{} is stale by {}", name, why);
    if (values.size() < kFewestSeeds)
        return fmt::format("{} has {} of the {} seeds that a verdict takes", name, values.size(), kFewestSeeds);
    return {};
}

std::string why_none(const ScoredSide& a, const ScoredSide& b, const ScoreColumn& column,
                     const ScoreDifference& scores) {
    for (const auto& [side, values] : {std::pair(&a, &scores.a), std::pair(&b, &scores.b)})
        if (std::string why = why_no_side(*side, column, *values); !why.empty()) return why;
    if (shared_trainings(*a.row, *b.row) > 0) return "the two share trainings";
    if (asked_of(a, column) != asked_of(b, column)) return "the two were not scored on the same documents";
    if (is_at_chance(*a.row, column.scores.guessed) && is_at_chance(*b.row, column.scores.guessed))
        return "neither is significantly above chance";
    return {};
}

// Over the sweep's rows of that stage which count and have two seeds or more.
VarianceChoice find_variance(const ScoredSide& side, const ScoreColumn& column, std::size_t fewest_seeds) {
    std::vector<std::vector<double>> values;
    for (const Row& row : *side.rows) {
        if (row.stage != side.row->stage || !not_measured(row).empty() ||
            !stale_scores({side.sweep, side.rows, &row}, column).empty())
            continue;
        if (std::vector<double> own = column.scores.values(row); all_finite(own)) values.push_back(std::move(own));
    }
    return choose_variance(values, fewest_seeds);
}

// Kept by column, for it is of all rows of the sweep.
VarianceChoice variance_of(const ScoredSide& side, const ScoreColumn& column, std::size_t fewest_seeds) {
    if (side.variances == nullptr) return find_variance(side, column, fewest_seeds);
    const std::string key =
        fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", side.row->stage, column.id.task, column.id.metric, column.id.split,
                    column.id.unit, column.id.shots, column.id.under_capacity, fewest_seeds >= kSeedsOfOwnVariance);
    const auto [found, is_new] = side.variances->try_emplace(key);
    if (is_new) found->second = find_variance(side, column, fewest_seeds);
    return found->second;
}

void test_scores(const ScoredSide& a, const ScoreColumn& column, bool is_one_table, ScoreDifference& scores) {
    const std::vector<ContrastTerm> terms = {unpaired_term(1, scores.b), unpaired_term(-1, scores.a)};
    ContrastRule rule{ContrastMethod::welch, std::nullopt, 0};
    if (is_one_table) {
        const VarianceChoice choice = variance_of(a, column, std::min(scores.a.size(), scores.b.size()));
        rule = choice.rule;
        scores.equal_variances = choice.test;
    }
    scores.method = rule.method;
    const Contrast found = contrast(terms, rule);
    if (found.standard_error == 0) {
        scores.why = "all seeds have equal scores, so their spread is unknown";
        return;
    }
    scores.interval = interval_of(found, kScoreConfidence);
    scores.p_value = std::min(1.0, 2 * std::min(chance_above(found, 0), chance_below(found, 0)));
}

bool share_a_table(const ScoredSide& a, const ScoredSide& b) {
    return a.sweep->name == b.sweep->name && a.sweep->spec_sha256 == b.sweep->spec_sha256 &&
           a.row->stage == b.row->stage;
}

// Trials of both, whose columns are those of the tables.
Results together(const ScoredSide& a, const ScoredSide& b) {
    Results both;
    for (const ScoredSide* side : {&a, &b})
        for (const Trial* trial : side->row->trials) both.trials.push_back(*trial);
    return both;
}

}  // namespace

std::size_t shared_trainings(const Row& a, const Row& b) {
    std::set<std::string> of_a;
    for (const Trial* trial : a.trials) of_a.insert(trial->config_hash);
    return static_cast<std::size_t>(std::count_if(
        b.trials.begin(), b.trials.end(), [&](const Trial* trial) { return of_a.contains(trial->config_hash); }));
}

const char* name(ScoreVerdict verdict) {
    switch (verdict) {
        case ScoreVerdict::better:
            return "better";
        case ScoreVerdict::worse:
            return "worse";
        case ScoreVerdict::unclear:
            return "unclear";
        case ScoreVerdict::none:
            break;
    }
    return "-";
}

const char* word(ScoreVerdict verdict) {
    return verdict == ScoreVerdict::unclear ? "inconclusive" : name(verdict);
}

std::vector<ScoreDifference> score_differences(const ScoredSide& a, const ScoredSide& b) {
    const Results both = together(a, b);
    std::vector<ScoreDifference> differences;
    for (const ScoreColumn& column : score_columns(both)) {
        ScoreDifference scores;
        scores.title = one_line(column.title);
        scores.id = column.id;
        scores.improves = column.scores.improves;
        scores.a = column.scores.values(*a.row);
        scores.b = column.scores.values(*b.row);
        scores.flag_of_a = not_measured(*a.row);
        scores.flag_of_b = not_measured(*b.row);
        if (scores.is_of_both()) scores.difference = mean(scores.b) - mean(scores.a);
        scores.why = why_none(a, b, column, scores);
        if (scores.why.empty()) test_scores(a, column, share_a_table(a, b), scores);
        differences.push_back(std::move(scores));
    }
    return differences;
}

void judge(std::vector<ScoreDifference*> family, double level) {
    std::erase_if(family, [](const ScoreDifference* one) { return !one->p_value; });
    std::vector<double> p_values;
    for (const ScoreDifference* one : family) p_values.push_back(*one->p_value);
    const std::vector<double> adjusted = holm(p_values);
    for (std::size_t i = 0; i < family.size(); ++i) {
        ScoreDifference& one = *family[i];
        one.adjusted_p = adjusted[i];
        const bool is_better = one.improves == Improves::upwards ? one.difference > 0 : one.difference < 0;
        one.verdict = adjusted[i] > level ? ScoreVerdict::unclear
                      : is_better         ? ScoreVerdict::better
                                          : ScoreVerdict::worse;
    }
}

}  // namespace deft::reporting
