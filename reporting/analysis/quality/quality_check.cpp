#include "reporting/analysis/quality/quality_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "reporting/analysis/statistics/case_family.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/analysis/statistics/variance_choice.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using Scores = std::vector<SeedScore>;

// One measure of one row on both sides, as numbers.
struct Sides {
    const MeasuredRow* base_row = nullptr;
    const MeasuredRow* head_row = nullptr;
    Measure measure;
    Scores base, head;
    std::string missing;           // why there is nothing to compare; empty: there is
    bool asked_otherwise = false;  // the task: other documents, shots or records
};

struct Comparison {
    SeedComparison seeds;
    double margin = 0, harm = 0;
};

std::vector<double> values_of(const Scores& scores) {
    std::vector<double> values;
    for (const SeedScore& score : scores) values.push_back(score.value);
    return values;
}

std::vector<std::int64_t> seeds_of(const Scores& scores) {
    std::vector<std::int64_t> seeds;
    for (const SeedScore& score : scores) seeds.push_back(score.seed);
    std::sort(seeds.begin(), seeds.end());
    return seeds;
}

bool all_finite(const Scores& scores) {
    return std::all_of(scores.begin(), scores.end(), [](const SeedScore& s) { return std::isfinite(s.value); });
}

std::size_t count_of_seeds(const std::vector<SeedValue>& values) {
    std::set<std::int64_t> seeds;
    for (const SeedValue& value : values) seeds.insert(value.seed);
    return seeds.size();
}

// Trials of the head that the baseline does not include.
std::vector<SeedValue> fresh(const std::vector<SeedValue>& base, const std::vector<SeedValue>& head) {
    std::set<std::string> pinned;
    for (const SeedValue& seed : base) pinned.insert(seed.attempt_uid);
    std::vector<SeedValue> result;
    for (const SeedValue& seed : head)
        if (!pinned.contains(seed.attempt_uid)) result.push_back(seed);
    return result;
}

void take_scores(Sides& sides, const std::vector<SeedValue>& base, const std::vector<SeedValue>& head) {
    for (const SeedValue& seed : base) sides.base.push_back({seed.seed, seed.value});
    for (const SeedValue& seed : head) sides.head.push_back({seed.seed, seed.value});
    for (const SeedValue& one : base)
        for (const SeedValue& other : head)
            if (!one.score_key.empty() && !other.score_key.empty() && one.score_key != other.score_key)
                sides.asked_otherwise = true;
}

// All at the tokens that the shortest of the curves reached.
void take_curves(Sides& sides, const std::vector<SeedValue>& base, const std::vector<SeedValue>& head) {
    std::vector<const LossCurve*> curves;
    for (const std::vector<SeedValue>* side : {&base, &head})
        for (const SeedValue& seed : *side) curves.push_back(&seed.curve);
    const double tokens = common_tokens(curves);
    const auto take = [&](const std::vector<SeedValue>& side, Scores& scores) {
        for (const SeedValue& seed : side) {
            const std::optional<double> loss = late_loss(seed.curve, tokens);
            if (!loss) sides.missing = "the curves share too few points to compare";
            scores.push_back({seed.seed, loss.value_or(0)});
        }
    };
    take(base, sides.base);
    take(head, sides.head);
}

Sides sides_of(const MeasuredRow& base, const MeasuredRow& head, const Measure& measure) {
    Sides sides;
    sides.base_row = &base;
    sides.head_row = &head;
    sides.measure = measure;
    const std::vector<SeedValue>& pinned = base.values.at(measure);
    const auto found = head.values.find(measure);
    const std::vector<SeedValue> measured = found == head.values.end() ? std::vector<SeedValue>{} : found->second;
    const std::vector<SeedValue> news = fresh(pinned, measured);
    if (measured.empty())
        sides.missing = "no finished trial measured it";
    else if (news.empty())
        sides.missing = "nothing was trained since it was pinned";
    else if (measure.kind == MeasureKind::curve)
        take_curves(sides, pinned, news);
    else
        take_scores(sides, pinned, news);
    sides.base = mean_by_seed(sides.base);
    sides.head = mean_by_seed(sides.head);
    return sides;
}

bool comparable(const Sides& sides) {
    return sides.missing.empty() && all_finite(sides.base) && all_finite(sides.head);
}

// Pooled over all rows by that measure; nothing where each side's own variance is used.
std::optional<PooledVariance> pooled_over_rows(const std::vector<Sides>& all, const Measure& measure,
                                               std::size_t fewest_seeds) {
    std::vector<std::vector<double>> values;
    for (const Sides& sides : all) {
        if (sides.measure != measure || !comparable(sides)) continue;
        values.push_back(values_of(sides.base));
        values.push_back(values_of(sides.head));
    }
    return choose_variance(values, fewest_seeds).rule.pooled;
}

double margin_of(const Sides& sides, const QualityRule& rule) {
    const double scale = std::abs(mean(values_of(sides.base)));
    return sides.measure.improves() == Improves::downwards && scale > 0 ? rule.loss_margin * scale : rule.score_margin;
}

Comparison compare(const Sides& sides, const std::vector<Sides>& all, const QualityRule& rule) {
    SeedRule seed_rule;
    seed_rule.improves = sides.measure.improves();
    seed_rule.margin = margin_of(sides, rule);
    seed_rule.confidence = rule.confidence;
    if (seeds_of(sides.base) != seeds_of(sides.head))
        seed_rule.pooled = pooled_over_rows(all, sides.measure, std::min(sides.base.size(), sides.head.size()));
    Comparison result;
    result.seeds = compare_seeds(sides.base, sides.head, seed_rule);
    result.margin = seed_rule.margin;
    result.harm = seed_rule.improves == Improves::upwards ? -result.seeds.difference : result.seeds.difference;
    return result;
}

// That a difference this far beyond the margin comes about where the truth is at the margin; one-sided.
std::optional<double> p_value_of(const Comparison& comparison) {
    const SeedComparison& seeds = comparison.seeds;
    if (!seeds.interval) return std::nullopt;
    const double t = (std::abs(comparison.harm) - comparison.margin) / seeds.standard_error;
    const double tail = student_t_p_value(t, seeds.degrees) / 2;
    return t > 0 ? tail : 1 - tail;
}

Outcome outcome_of(const Comparison& comparison, double adjusted_p, const QualityRule& rule) {
    const SeedComparison& seeds = comparison.seeds;
    if (!seeds.verdict) return Outcome::unclear;
    if (!seeds.interval) return *seeds.verdict == SeedVerdict::not_worse ? Outcome::same : Outcome::unclear;
    const double half = (seeds.interval->high - seeds.interval->low) / 2;
    const bool is_significant = adjusted_p <= rule.false_discovery_rate;
    if (comparison.harm - half > comparison.margin) return is_significant ? Outcome::worse : Outcome::unclear;
    if (comparison.harm + half < -comparison.margin && is_significant) return Outcome::better;
    return comparison.harm + half < comparison.margin ? Outcome::same : Outcome::unclear;
}

std::string needed(const std::optional<std::size_t>& more_seeds) {
    if (!more_seeds) return "no number of seeds up to a thousand would settle it";
    if (*more_seeds == 0) return "alone it would count, among all comparisons it may be chance";
    return fmt::format("about {} on either side would settle it", counted(*more_seeds, "more seed"));
}

std::string certainty(const Comparison& comparison, Outcome outcome, double adjusted_p, const QualityRule& rule) {
    const SeedComparison& seeds = comparison.seeds;
    if (!seeds.verdict)
        return fmt::format("no verdict below {} seeds on either side: {} more", kFewestSeeds, *seeds.more_seeds);
    if (!seeds.interval)
        return outcome == Outcome::same ? "every seed has the same value on both sides"
                                        : "no verdict: the seeds have no spread";
    if (outcome == Outcome::unclear) return needed(seeds.more_seeds);
    if (outcome == Outcome::same)
        return fmt::format("at most {} worse (one-sided {:.0f}% bound)",
                           score(comparison.harm + (seeds.interval->high - seeds.interval->low) / 2),
                           50 + 50 * rule.confidence);
    return fmt::format("adjusted p {:.2g}", adjusted_p);
}

std::string sentence(const Sides& sides, const Comparison& comparison, Outcome outcome, double adjusted_p,
                     const QualityRule& rule) {
    const SeedComparison& seeds = comparison.seeds;
    std::string text =
        fmt::format("{} against {}", score(mean(values_of(sides.head))), score(mean(values_of(sides.base))));
    text += fmt::format(": {} by {}",
                        comparison.harm > 0   ? "worse"
                        : comparison.harm < 0 ? "better"
                                              : "apart",
                        score(std::abs(comparison.harm)));
    if (seeds.interval) {
        const double half = (seeds.interval->high - seeds.interval->low) / 2;
        text += fmt::format(" ± {} (two-sided {:.0f}% interval)", score(half), 100 * rule.confidence);
    }
    text += fmt::format(", limit {}; {}", score(comparison.margin), certainty(comparison, outcome, adjusted_p, rule));
    if (sides.base_row->variant_hash != sides.head_row->variant_hash)
        text += "; its configuration is not the baseline's";
    if (sides.asked_otherwise) text += "; its task was evaluated differently: other documents, shots or records";
    return text;
}

QualityFinding started(const std::string& row, const std::optional<Measure>& measure, const std::string& baseline) {
    QualityFinding result;
    result.row = row;
    result.measure = measure;
    result.judged.finding.check = "quality";
    result.judged.finding.name = row + ": " + (measure ? name(*measure) : "trials");
    result.judged.finding.where = "against " + baseline;
    Json subject = {{"case", row}, {"baseline", baseline}};
    if (measure) subject["measure"] = to_json(*measure);
    result.judged.subject_json = subject.dump(-1, ' ', false, Json::error_handler_t::replace);
    return result;
}

QualityFinding concluded(QualityFinding finding, Outcome outcome, const std::string& text) {
    finding.judged.finding.outcome = outcome;
    finding.judged.finding.text = text;
    return finding;
}

std::string not_finite_text(const Scores& scores) {
    std::vector<std::int64_t> seeds;
    for (const SeedScore& score : scores)
        if (!std::isfinite(score.value)) seeds.push_back(score.seed);
    return fmt::format("not finite for seed {}", fmt::join(seeds, ", "));
}

constexpr std::size_t kMostNamed = 4;

// Findings that follow from the trials' states, before any number.
void add_trial_findings(std::vector<QualityFinding>& findings, const MeasuredRow& head, const std::string& baseline) {
    if (!head.crashed.empty())
        findings.push_back(concluded(
            started(head.name, std::nullopt, baseline), Outcome::broken,
            fmt::format("{} of {} seeds crashed: {}", head.crashed.size(), head.seeds, fmt::join(head.crashed, "; "))));
    if (!head.unfinished.empty())
        findings.push_back(concluded(started(head.name, std::nullopt, baseline), Outcome::missing,
                                     fmt::format("{} of {} seeds have not finished: {}", head.unfinished.size(),
                                                 head.seeds, fmt::join(head.unfinished, ", "))));
    if (!head.stale.empty())
        findings.push_back(concluded(started(head.name, std::nullopt, baseline), Outcome::missing,
                                     fmt::format("left out for being stale, deft run retrains it: {}",
                                                 first_sentences(head.stale, kMostNamed))));
}

// Comparisons that can be made, with their places among the findings.
struct Compared {
    std::size_t finding = 0, sides = 0;
    Comparison comparison;
};

void judge(std::vector<QualityFinding>& findings, const std::vector<Sides>& all, std::vector<Compared>& compared,
           const QualityRule& rule) {
    std::vector<double> p_values;
    for (const Compared& one : compared) p_values.push_back(p_value_of(one.comparison).value_or(1));
    const std::vector<double> adjusted = benjamini_hochberg(p_values);
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const Comparison& comparison = compared[i].comparison;
        const Sides& sides = all[compared[i].sides];
        QualityFinding& result = findings[compared[i].finding];
        CheckFinding& finding = result.judged.finding;
        finding.outcome = outcome_of(comparison, adjusted[i], rule);
        finding.text = sentence(sides, comparison, finding.outcome, adjusted[i], rule);
        finding.effect = comparison.seeds.difference;
        if (comparison.seeds.interval) {
            finding.lower = comparison.seeds.interval->low;
            finding.upper = comparison.seeds.interval->high;
            result.judged.p_value = p_values[i];
            result.judged.adjusted_p = adjusted[i];
        }
        finding.limit = comparison.margin;
        result.base = mean(values_of(sides.base));
        result.head = mean(values_of(sides.head));
        result.more_seeds = comparison.seeds.more_seeds;
    }
}

const MeasuredRow* find(std::span<const MeasuredRow> rows, const std::string& name) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const MeasuredRow& one) { return one.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::string rule_json(const QualityRule& rule) {
    return canonical_json(Json{{"loss_margin", rule.loss_margin},
                               {"score_margin", rule.score_margin},
                               {"confidence", rule.confidence},
                               {"false_discovery_rate", rule.false_discovery_rate},
                               {"fewest_seeds", kFewestSeeds},
                               {"curves", "mean loss over the last half of the tokens that all seeds consumed"}});
}

std::vector<QualityFinding> check_quality(std::span<const MeasuredRow> base, std::span<const MeasuredRow> head,
                                          const std::string& baseline, const QualityRule& rule, bool whole) {
    std::vector<QualityFinding> findings;
    std::vector<Sides> all;
    std::vector<Compared> compared;
    for (const MeasuredRow& one : head) {
        add_trial_findings(findings, one, baseline);
        const bool is_explained = one.values.empty() && !findings.empty() && findings.back().row == one.name;
        if (is_explained) continue;
        const MeasuredRow* pinned = find(base, one.name);
        if (pinned == nullptr) {
            findings.push_back(concluded(started(one.name, std::nullopt, baseline), Outcome::missing,
                                         fmt::format("baseline {} has no row of that name", baseline)));
            continue;
        }
        for (const auto& [measure, seeds] : pinned->values) {
            const Sides sides = sides_of(*pinned, one, measure);
            QualityFinding finding = started(one.name, measure, baseline);
            finding.base_seeds = count_of_seeds(seeds);
            finding.head_seeds = sides.head.size();
            if (!sides.missing.empty())
                finding = concluded(std::move(finding), Outcome::missing, sides.missing);
            else if (!all_finite(sides.head))
                finding = concluded(std::move(finding), Outcome::broken, not_finite_text(sides.head));
            else
                compared.push_back({findings.size(), all.size(), {}});
            findings.push_back(std::move(finding));
            all.push_back(sides);
        }
    }
    if (whole)
        for (const MeasuredRow& one : base)
            if (find(head, one.name) == nullptr)
                findings.push_back(concluded(started(one.name, std::nullopt, baseline), Outcome::missing,
                                             "the sweep has no row of that name"));
    for (Compared& one : compared) one.comparison = compare(all[one.sides], all, rule);
    judge(findings, all, compared, rule);
    return findings;
}

}  // namespace deft::reporting
