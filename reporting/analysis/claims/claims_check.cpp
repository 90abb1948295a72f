#include "reporting/analysis/claims/claims_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "reporting/analysis/cost/cpu_contention.h"
#include "reporting/analysis/scores/chance_level.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/search/rate_search.h"
#include "reporting/analysis/statistics/case_family.h"
#include "reporting/numbers.h"
#include "results_db/row_name.h"

namespace deft::reporting {

namespace {

constexpr const char* kCheck = "claim";

// A claim on its way to a finding.
struct Judging {
    const Claim* claim = nullptr;
    const ClaimScale* scale = nullptr;
    std::vector<ClaimValues> rows;
    std::optional<ClaimTest> test;
    std::string missing, unclear;  // why a verdict is absent; empty: one is given
};

const ClaimScale& scale_of(const Claim& claim, const std::string& scale) {
    return scale == "paper" ? claim.paper : claim.proxy;
}

std::vector<ClaimValues> claimed_rows(const Claim& claim, const ClaimScale& scale, const PublishedTable& table,
                                      const std::vector<Row>& rows) {
    std::vector<ClaimValues> claimed = {claim_values(rows, claim.of, scale)};
    if (claim.against) claimed.push_back(claim_values(rows, *claim.against, scale));
    if (claim.from) claimed.push_back(claim_values(rows, *claim.from, scale));
    if (claim.kind != ClaimKind::best_in_column) return claimed;
    for (const PublishedRow& row : table.rows)
        if (row.recipe != claim.of.recipe || !results_db::same_budget(row.budget_fraction, claim.of.budget_fraction))
            claimed.push_back(claim_values(rows, {row.recipe, row.budget_fraction}, scale));
    return claimed;
}

// The baseline at the largest budget of the claim's stage, where its score is not significantly above chance.
std::string at_chance(const ClaimScale& scale, const ClaimValues& first, const Results& sweep,
                      const std::vector<Row>& rows) {
    if (first.measured == nullptr) return {};
    std::vector<Row> stage;
    for (const Row& row : rows)
        if (row.stage == first.measured->stage) stage.push_back(row);
    const std::string base_recipe = sweep.baseline.empty() ? baseline_recipe(stage, "", sweep.name) : sweep.baseline;
    const auto is_baseline = [&](const Row& row) { return row.recipe == base_recipe; };
    if (std::none_of(stage.begin(), stage.end(), is_baseline)) return {};
    const Row& baseline = reference_of(stage, base_recipe, stage.front());
    const auto guessed_of = [&](const Trial& trial) { return guessed(scale.quantity, trial); };
    if (!is_at_chance(baseline, guessed_of)) return {};
    return fmt::format("{} of {} is not significantly above chance, so it distinguishes no recipes",
                       to_text(scale.quantity), baseline.name);
}

std::string first_missing(const std::vector<ClaimValues>& rows, const Quantity& quantity) {
    for (const ClaimValues& row : rows)
        if (!row.missing.empty()) return row.missing;
    for (const ClaimValues& row : rows)
        if (row.measured->stage != rows.front().measured->stage)
            return fmt::format("{} has it in stage {}, and {} in stage {}", rows.front().name,
                               rows.front().measured->stage, row.name, row.measured->stage);
    std::vector<const Row*> measured;
    for (const ClaimValues& row : rows) measured.push_back(row.measured);
    return several_slots(measured, quantity);
}

// The reason that seeds cannot be judged although they have values.
std::string why_unclear(const std::vector<ClaimValues>& rows, const Quantity& quantity) {
    for (const ClaimValues& row : rows)
        if (!row.diverged.empty())
            return fmt::format("{} of {} of {} diverged (seed {}): the mean over the others would be too good",
                               row.diverged.size(), counted(row.measured->trials.size(), "seed"), row.name,
                               fmt::join(row.diverged, ", "));
    for (const ClaimValues& row : rows)
        if (row.values.size() < kFewestSeeds)
            return fmt::format("no verdict below {} seeds: {} has {}", kFewestSeeds, row.name, row.values.size());
    if (quantity.kind != Quantity::Kind::resource || !is_from_seconds(quantity)) return {};
    std::vector<const Row*> measured;
    for (const ClaimValues& row : rows) measured.push_back(row.measured);
    return contention_differs(measured, to_text(quantity));
}

Judging judging_of(const Claim& claim, const PublishedTable& table, const Results& sweep, const std::vector<Row>& rows,
                   const ClaimRule& rule) {
    Judging one;
    one.claim = &claim;
    one.scale = &scale_of(claim, sweep.scale);
    if (!one.scale->not_judged.empty()) {
        one.missing = fmt::format("not judged at this scale: {}", one.scale->not_judged);
        return one;
    }
    one.rows = claimed_rows(claim, *one.scale, table, rows);
    one.missing = first_missing(one.rows, one.scale->quantity);
    if (one.missing.empty()) one.missing = at_chance(*one.scale, one.rows.front(), sweep, rows);
    if (one.missing.empty()) one.unclear = why_unclear(one.rows, one.scale->quantity);
    if (!one.missing.empty() || !one.unclear.empty()) return one;
    try {
        const auto recipes = values_of_stage(rows, one.rows.front().measured->stage, *one.scale);
        one.test = test_claim(claim, *one.scale, one.rows, recipes, rule);
    } catch (const Error& error) {
        one.missing = error.what();
        return one;
    }
    const bool has_spread = std::all_of(one.test->parts.begin(), one.test->parts.end(),
                                        [](const ClaimPart& part) { return part.found.standard_error > 0; });
    if (!has_spread && one.scale->quantity.kind != Quantity::Kind::resource)
        one.unclear = "no verdict: the seeds have no spread";
    if (claim.kind == ClaimKind::closes_gap && !one.test->share)
        one.unclear = fmt::format("the gap from {} to {} is not significant", one.rows[2].name, one.rows[1].name);
    if (!one.unclear.empty()) one.test.reset();
    return one;
}

// Only findings with a test; `chance` is one of its two.
std::vector<double> adjusted(const std::vector<Judging>& all, double ClaimTest::*chance) {
    std::vector<double> p_values;
    for (const Judging& one : all)
        if (one.test) p_values.push_back((*one.test).*chance);
    return holm(p_values);
}

double mean_of(const ClaimValues& row) {
    double sum = 0;
    for (const SeedScore& seed : row.values) sum += seed.value;
    return sum / static_cast<double>(row.values.size());
}

// The part that decides: the one that is farthest from holding.
const ClaimPart& weakest(const ClaimTest& test) {
    return *std::max_element(test.parts.begin(), test.parts.end(), [](const ClaimPart& a, const ClaimPart& b) {
        return chance_above(a.found, a.threshold) < chance_above(b.found, b.threshold);
    });
}

// How much better the claim's own row is by the part that decides, whichever way that part looks.
struct Lead {
    double estimate = 0;
    Interval interval;
};

// Each bound is wrong at most `level` of the time: the upper one, which refutes, is the worst over all parts.
Lead lead_of(const ClaimTest& test, double level) {
    const ClaimPart& part = weakest(test);
    const double of_parts = level / static_cast<double>(test.parts.size());
    const Interval interval{interval_of(part.found, 1 - 2 * level).low, interval_of(part.found, 1 - 2 * of_parts).high};
    if (part.is_turned) return {-part.found.estimate, {-interval.high, -interval.low}};
    return {part.found.estimate, interval};
}

const ClaimValues& best_other(const Judging& one) {
    const double sign = one.scale->better == "higher" ? 1 : -1;
    return *std::max_element(one.rows.begin() + 1, one.rows.end(), [&](const ClaimValues& a, const ClaimValues& b) {
        return sign * mean_of(a) < sign * mean_of(b);
    });
}

std::string means_text(const Judging& one) {
    const auto words = [](const ClaimValues& row) { return fmt::format("{} {}", row.name, score(mean_of(row))); };
    std::vector<std::string> means;
    if (one.claim->kind == ClaimKind::best_in_column)
        means = {words(one.rows.front()),
                 fmt::format("the best of {} others {}", one.rows.size() - 1, words(best_other(one)))};
    else
        for (const ClaimValues& row : one.rows) means.push_back(words(row));
    return fmt::format("{}: {}", to_text(one.scale->quantity), fmt::join(means, ", "));
}

// "Substitute metric, for suite:data_efficiency average: ", where another metric than the paper's judges the scale.
std::string substitute_text(const Judging& one) {
    const ClaimScale& paper = one.claim->paper;
    const bool is_judged = one.scale->not_judged.empty() && paper.not_judged.empty();
    if (!is_judged || one.scale->quantity == paper.quantity) return {};
    return fmt::format("Substitute metric, for {}: ", to_text(paper.quantity));
}

// The bound of the verdict against what it is held to, in the claim's own words.
std::string bound_text(const Judging& one, const ClaimRule& rule) {
    const ClaimTest& test = *one.test;
    const std::string bound = fmt::format("one-sided {:.0f}% bound", 100 * (1 - rule.level));
    if (test.share)
        return fmt::format("closes {:.0f}% of the gap, [{:.0f}%, {:.0f}%] ({}s), claimed at least {:.0f}%",
                           100 * *test.share, 100 * test.share_interval->low, 100 * test.share_interval->high, bound,
                           100 * one.claim->amount);
    const ClaimPart& part = weakest(test);
    const auto [estimate, interval] = lead_of(test, rule.level);
    if (test.is_logarithmic) {
        if (one.claim->kind == ClaimKind::at_most_fraction)
            return fmt::format("takes {:.3g} of it, at most {:.3g} ({}), claimed at most {:g}", std::exp(-estimate),
                               std::exp(-interval.low), bound, one.claim->amount);
        return fmt::format("{:.3g} times as fast, at least {:.3g} ({}), claimed at least {:g}", std::exp(estimate),
                           std::exp(interval.low), bound, one.claim->amount);
    }
    const auto side = [](double difference) {
        return fmt::format("{} {}", score(std::abs(difference)), difference < 0 ? "worse" : "better");
    };
    const std::string of_others = one.claim->kind == ClaimKind::best_in_column
                                      ? fmt::format(", to the farthest of {} others", test.parts.size())
                                      : "";
    std::string text = fmt::format("{}, between {} and {} ({}s{})", side(estimate), side(interval.low),
                                   side(interval.high), bound, of_others);
    if (part.threshold < 0) text += fmt::format(", margin {}", score(-part.threshold));
    return text;
}

bool is_pooled(const Judging& one) {
    return one.claim->method != ContrastMethod::paired && one.test->variance.rule.method == ContrastMethod::pooled;
}

struct Settling {
    std::optional<std::size_t> seeds;
    double seconds = 0, usd = 0;
};

// At the level that holds however the other claims turn out: until all parts hold, or where one does not until the
// first of these fails.
std::optional<std::size_t> seeds_to_settle(const std::vector<ClaimPart>& parts, double level) {
    const auto has_lead = [](const ClaimPart& part) { return part.found.estimate > part.threshold; };
    const bool holds = std::all_of(parts.begin(), parts.end(), has_lead);
    std::optional<std::size_t> seeds;
    for (const ClaimPart& part : parts) {
        if (!holds && has_lead(part)) continue;
        const double own_level = holds ? level : level / static_cast<double>(parts.size());
        const auto more = more_seeds(part.terms, part.rule, part.threshold, own_level);
        if (holds && !more) return std::nullopt;
        if (more && (!seeds || (holds ? *more > *seeds : *more < *seeds))) seeds = more;
    }
    return seeds;
}

Settling settling(const Judging& one, double level) {
    Settling result{seeds_to_settle(one.test->parts, level), 0, 0};
    if (!result.seeds) return result;
    for (const ClaimValues& row : one.rows) {
        result.seconds += static_cast<double>(*result.seeds) * row.seconds_a_seed;
        result.usd += static_cast<double>(*result.seeds) * row.usd_a_seed;
    }
    return result;
}

std::string settling_text(const Judging& one, std::size_t claims, const ClaimRule& rule) {
    const double level = rule.level / static_cast<double>(claims);
    const Contrast& found = weakest(*one.test).found;
    const double smallest = smallest_effect(found, level, rule.power);
    // In logarithms: above for "times as fast", below for "at most".
    const double relative =
        one.claim->kind == ClaimKind::at_most_fraction ? -std::expm1(-smallest) : std::expm1(smallest);
    const std::string effect = one.test->is_logarithmic ? fmt::format("{:.1f}%", 100 * relative) : score(smallest);
    std::string text = fmt::format("these seeds show {} beyond the claim with {:.0f}% power", effect, 100 * rule.power);
    const Settling more = settling(one, level);
    if (!more.seeds) return text + "; no number of seeds up to a thousand would settle it";
    if (*more.seeds == 0) return text + "; alone it would count, among all claims of the table it may be chance";
    text += fmt::format("; {} of each row would settle it, about {:.2g} device-hours",
                        counted(*more.seeds, "more seed"), more.seconds / 3600);
    if (more.usd > 0) text += fmt::format(" or {}", dollars(more.usd));
    const std::string& stage = one.rows.front().measured->stage;
    return stage.empty() ? text : text + fmt::format(" of stage {} alone", stage);
}

std::string unfinished_text(const std::vector<ClaimValues>& rows) {
    std::string text;
    for (const ClaimValues& row : rows)
        if (!row.unfinished.empty())
            text += fmt::format("; {} of {} of {} have not finished", row.unfinished.size(),
                                counted(row.measured->trials.size(), "seed"), row.name);
    return text;
}

// Where the sweep searched the learning rate of its rows.
std::string rate_text(const Judging& one, const Results& sweep) {
    std::vector<std::string> recipes = {one.claim->of.recipe};
    for (const auto& row : {one.claim->against, one.claim->from})
        if (row) recipes.push_back(row->recipe);
    if (one.claim->kind == ClaimKind::best_in_column)
        for (const ClaimValues& row : one.rows)
            if (row.measured != nullptr) recipes.push_back(row.measured->recipe);
    const std::string note = rate_at_end_note(sweep, recipes);
    return note.empty() ? "" : ". " + note;
}

// The settings that decide a claim at a scale, stored with a sweep when it first runs and with each verdict.
Json terms_of(const Claim& claim, const ClaimScale& scale) {
    const auto row = [](const ClaimedRow& of) {
        return fmt::format("{} at {:g}%", of.recipe, 100 * of.budget_fraction);
    };
    Json terms = {{"claim", claim.id},
                  {"kind", to_text(claim.kind)},
                  {"margin", scale.margin},
                  {"amount", claim.amount},
                  {"of", row(claim.of)},
                  {"measure", to_text(scale.quantity)},
                  {"method", claim.method == ContrastMethod::paired ? "paired" : "pooled"}};
    if (claim.against) terms["against"] = row(*claim.against);
    if (claim.from) terms["from"] = row(*claim.from);
    return terms;
}

// "; its margin was 0.01 when ...", of all terms that `then` says otherwise. Older programs kept fewer.
std::string changed_terms(const Json& then, const Json& now, const std::string& when) {
    std::vector<std::string> changed;
    for (const auto& [key, value] : now.items())
        if (then.contains(key) && then.at(key) != value)
            changed.push_back(fmt::format("{} was {}", key == "amount" ? "bound" : key, then.at(key).dump()));
    return changed.empty() ? "" : fmt::format("; its {} when {}", fmt::join(changed, ", its "), when);
}

std::string changed_since_first_run(const Json& now, const std::string& table, const results_db::SweepHead& sweep) {
    const Json kept = try_parse_json(sweep.claims_json);
    if (!kept.is_object() || !kept.contains("claims") || !kept.at("claims").is_array()) return {};  // nobody knows
    const std::string when = "the sweep first ran on " + date(sweep.created_ms);
    if (kept.value("table", Json()) == table)
        for (const Json& then : kept.at("claims"))
            if (then.is_object() && then.value("claim", Json()) == now.at("claim"))
                return changed_terms(then, now, when);
    return "; it was not among the claims when " + when;
}

const char* scale_word(const results_db::SweepHead& sweep) {
    return sweep.scale == "paper" ? "paper" : "proxy";
}

// The newest verdict on this claim at this scale decides.
std::string changed_since_verdict(const Json& now, const std::string& table, const results_db::SweepHead& sweep,
                                  std::span<const results_db::VerdictRow> earlier) {
    for (auto row = earlier.rbegin(); row != earlier.rend(); ++row) {
        if (row->kind != kCheck) continue;
        const Json then = try_parse_json(row->subject_json);
        if (!then.is_object() || !then.contains("margin") || !then.contains("amount")) continue;
        if (then.value("table", Json()) == table && then.value("claim", Json()) == now.at("claim") &&
            then.value("scale", Json()) == scale_word(sweep))
            return changed_terms(then, now, "it was judged on " + date(row->created_ms));
    }
    return {};
}

std::string changed_since(const Judging& one, const std::string& table, const results_db::SweepHead& sweep,
                          std::span<const results_db::VerdictRow> earlier) {
    if (!one.scale->not_judged.empty()) return {};
    const Json now = terms_of(*one.claim, *one.scale);
    const std::string changed = changed_since_first_run(now, table, sweep);
    return changed.empty() ? changed_since_verdict(now, table, sweep, earlier) : changed;
}

ClaimFinding started(const Judging& one, const PublishedTable& table, const Results& sweep) {
    ClaimFinding finding;
    finding.claim = one.claim->id;
    CheckFinding& result = finding.judged.finding;
    result.check = kCheck;
    result.name = fmt::format("{}: {}", table.name, one.claim->id);
    result.where = sweep.scale;
    Json subject = terms_of(*one.claim, *one.scale);
    subject.update({{"table", table.name},
                    {"scale", scale_word(sweep)},
                    {"sweep", sweep.name},
                    {"spec_sha256", sweep.spec_sha256}});
    finding.judged.subject_json = canonical_json(subject);
    return finding;
}

// The difference, or log ratio, of the part that decides, with its interval; larger is better.
void fill_numbers(Judged& judged, const Judging& one, const ClaimRule& rule) {
    const ClaimPart& part = weakest(*one.test);
    const auto [estimate, interval] = lead_of(*one.test, rule.level);
    judged.finding.effect = estimate;
    judged.finding.lower = interval.low;
    judged.finding.upper = interval.high;
    if (part.threshold != 0) judged.finding.limit = std::abs(part.threshold);
}

}  // namespace

std::vector<ClaimFinding> check_claims(const PublishedTable& table, const Results& sweep,
                                       std::span<const results_db::VerdictRow> earlier, const ClaimRule& rule) {
    std::vector<Row> rows = rows_of(sweep);
    if (!table.stage.empty())
        std::erase_if(rows, [&](const Row& row) { return !row.stage.empty() && row.stage != table.stage; });
    std::vector<Judging> all;
    for (const Claim& claim : table.claims) all.push_back(judging_of(claim, table, sweep, rows, rule));
    const std::vector<double> holds = adjusted(all, &ClaimTest::holds_by_chance);
    const std::vector<double> fails = adjusted(all, &ClaimTest::fails_by_chance);
    const std::vector<double> own_holds = adjusted(all, &ClaimTest::own_holds_by_chance);
    const std::vector<double> own_fails = adjusted(all, &ClaimTest::own_fails_by_chance);
    std::vector<ClaimFinding> findings;
    std::size_t judged = 0;
    for (const Judging& one : all) {
        ClaimFinding& finding = findings.emplace_back(started(one, table, sweep));
        CheckFinding& result = finding.judged.finding;
        result.outcome = one.missing.empty() ? Outcome::unclear : Outcome::missing;
        result.text =
            one.claim->statement + ". " + substitute_text(one) + (one.missing.empty() ? one.unclear : one.missing);
        if (one.test) {
            const bool does_hold = holds[judged] <= rule.level, does_fail = fails[judged] <= rule.level;
            result.outcome = does_hold ? Outcome::holds : does_fail ? Outcome::fails : Outcome::unclear;
            // Adjusted chances may be equal, as where both are 1, and then name no side.
            const bool is_nearer_to_fail =
                does_fail || (!does_hold && one.test->fails_by_chance < one.test->holds_by_chance);
            finding.judged.p_value = is_nearer_to_fail ? one.test->fails_by_chance : one.test->holds_by_chance;
            finding.judged.adjusted_p = is_nearer_to_fail ? fails[judged] : holds[judged];
            const std::string side = does_hold || does_fail ? ""
                                     : is_nearer_to_fail    ? " of refuting"
                                                            : " of supporting";
            result.text =
                fmt::format("{}. {}{}: {}; Holm-adjusted p{} {:.2g}", one.claim->statement, substitute_text(one),
                            means_text(one), bound_text(one, rule), side, *finding.judged.adjusted_p);
            const auto& by_seed =
                is_nearer_to_fail ? one.test->paired_fails_by_chance : one.test->paired_holds_by_chance;
            if (by_seed && one.claim->method != ContrastMethod::paired)
                result.text += fmt::format(" (seed by seed {:.2g})", *by_seed);
            if (one.claim->method != ContrastMethod::paired) result.text += "; by " + to_text(one.test->variance);
            const double by_own = does_hold ? own_holds[judged] : own_fails[judged];
            if (is_pooled(one) && (does_hold || does_fail) && by_own > rule.level)
                result.text += fmt::format(
                    "; the verdict rests on pooling alone: Holm-adjusted p {:.2g} by each row's own variance", by_own);
            if (result.outcome == Outcome::unclear) result.text += "; " + settling_text(one, holds.size(), rule);
            fill_numbers(finding.judged, one, rule);
            ++judged;
        }
        result.text +=
            unfinished_text(one.rows) + changed_since(one, table.name, sweep, earlier) + rate_text(one, sweep);
    }
    return findings;
}

std::string claims_json(const PublishedTable& table, const std::string& scale) {
    Json claims = Json::array();
    for (const Claim& claim : table.claims)
        if (const ClaimScale& judged = scale_of(claim, scale); judged.not_judged.empty())
            claims.push_back(terms_of(claim, judged));
    return canonical_json({{"table", table.name}, {"claims", claims}});
}

std::string rule_json(const ClaimRule& rule) {
    return canonical_json(
        Json{{"level", rule.level},
             {"power", rule.power},
             {"fewest_seeds", kFewestSeeds},
             {"family", "Holm over the claims of a table"},
             {"variance",
              "each row's own (Welch) from five seeds on, or where Brown-Forsythe rejects equal ones at "
              "25%; else pooled over the table and shrunk, six prior degrees of freedom"}});
}

std::vector<std::string> claim_notes(const ClaimRule& rule) {
    return {
        fmt::format(
            "Holm-adjusted p: over all claims of a table; a verdict needs at most {:g}. Of supporting or refuting: "
            "the side that is nearer to a verdict. Each bound is for one claim alone.",
            rule.level),
        "Seed by seed: the p of the paired test on the differences of equal seeds. Substitute metric: what the scale "
        "measures in place of the metric of the paper. Margin: the difference that still counts as equally good.",
        "Welch: each row has its own variance. Brown-Forsythe: the test of equal variances that chooses own or pooled "
        "ones. Power: the probability to find an effect of that size.",
        "docs/statistics.md (Claims and verdicts) explains these terms.",
    };
}

CheckReport claims_report(std::span<const ClaimFinding> findings, const std::string& sweep,
                          const PublishedTable& table) {
    CheckReport report;
    report.caption = fmt::format("Claims of {} in {}", table.name, sweep);
    for (const ClaimFinding& one : findings) report.findings.push_back(one.judged.finding);
    return report;
}

}  // namespace deft::reporting
