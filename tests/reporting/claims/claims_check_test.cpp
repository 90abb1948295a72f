// Claims against tables of known truth.

#include "reporting/claims/claims_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"

using namespace deft;
using namespace deft::reporting;
using results_db::SweepResults;
using results_db::TrialRow;

namespace {

// Of the validation loss, which is better lower.
Claim a_claim(ClaimKind kind, ClaimedRow of, std::optional<ClaimedRow> against, double margin_or_amount) {
    Claim claim;
    claim.id = to_text(kind);
    claim.statement = "One is as the other";
    claim.kind = kind;
    claim.of = std::move(of);
    claim.against = std::move(against);
    claim.proxy.quantity = parse_quantity("task:validation loss", {});
    claim.proxy.unit = "nats/token";
    claim.proxy.better = "lower";
    claim.proxy.margin = margin_or_amount;
    claim.amount = margin_or_amount;
    claim.paper.not_judged = "too dear";
    return claim;
}

const ClaimedRow kBase{"base", 1}, kBaseHalf{"base", 0.5}, kTech{"tech", 1}, kTechHalf{"tech", 0.5};

PublishedTable table_of(std::vector<Claim> claims) {
    PublishedTable table;
    table.name = "a_table";
    for (const ClaimedRow& row : {kBase, kBaseHalf, kTech, kTechHalf}) {
        PublishedRow printed;
        printed.case_name = row.case_name;
        printed.budget_fraction = row.budget_fraction;
        table.rows.push_back(printed);
    }
    table.claims = std::move(claims);
    return table;
}

struct Row {
    ClaimedRow row;
    std::vector<double> losses;
    std::int64_t wall_ms = 1000;
};

SweepResults sweep_of(const std::vector<Row>& rows) {
    std::vector<TrialRow> trials;
    for (const Row& row : rows) {
        std::int64_t seed = 0;
        for (const double loss : row.losses) {
            ++seed;
            trials.push_back(a_finished_trial(row.row.case_name.c_str(), row.row.budget_fraction == 1 ? kFullBudget : kHalfBudget,
                                              seed, loss, row.wall_ms + seed));
            trials.back().train_seconds = static_cast<double>(row.wall_ms + seed) / 1000;
            trials.back().device_seconds = 1800;
            trials.back().usd = 2.0;
        }
    }
    SweepResults sweep = a_sweep_of(std::move(trials));
    sweep.scale = "proxy";
    return sweep;
}

// Rows of a table whose spread over seeds is known well.
std::vector<Row> quiet_rows(double base, double base_half, double tech, double tech_half) {
    const auto around = [](double mean) { return std::vector<double>{mean - 0.01, mean, mean + 0.01}; };
    return {{kBase, around(base)}, {kBaseHalf, around(base_half)}, {kTech, around(tech)}, {kTechHalf, around(tech_half)}};
}

Claim a_claim_on_time(double fraction) {
    Claim claim = a_claim(ClaimKind::at_most_fraction, kTechHalf, kBase, fraction);
    claim.proxy.quantity = parse_quantity("train hours", {});
    claim.proxy.unit = "h";
    return claim;
}

std::vector<Row> rows_of_half_the_time() {
    std::vector<Row> rows = quiet_rows(2, 2.5, 1.9, 2.004);
    for (Row& row : rows) row.wall_ms = row.row.budget_fraction == 1 ? 100'000 : 50'000;
    return rows;
}

CheckFinding judged(Claim claim, const SweepResults& sweep) {
    return check_claims(table_of({std::move(claim)}), sweep, {}).front().judged.finding;
}

}  // namespace

// Four rows of variance 1e-4: pooled 1e-4 with 8 degrees; the standard error of a difference is 0.00816, t(95%, 8) 1.8595,
// so that a bound is 0.01518 from the difference.
TEST_CASE("no worse, better, equal and best: bounds against margins") {
    const auto outcome = [](const Claim& claim, const std::vector<Row>& rows) { return judged(claim, sweep_of(rows)).outcome; };
    const Claim no_worse = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    CHECK(outcome(no_worse, quiet_rows(2, 2.5, 1.9, 2.004)) == Outcome::holds);
    CHECK(outcome(no_worse, quiet_rows(2, 2.5, 1.9, 2.006)) == Outcome::unclear);
    CHECK(outcome(no_worse, quiet_rows(2, 2.5, 1.9, 2.034)) == Outcome::unclear);
    CHECK(outcome(no_worse, quiet_rows(2, 2.5, 1.9, 2.036)) == Outcome::fails);
    const Claim better = a_claim(ClaimKind::better, kTech, kBase, 0);
    CHECK(outcome(better, quiet_rows(2, 2.5, 1.984, 2)) == Outcome::holds);
    CHECK(outcome(better, quiet_rows(2, 2.5, 1.986, 2)) == Outcome::unclear);
    CHECK(outcome(better, quiet_rows(2, 2.5, 2.016, 2)) == Outcome::fails);
    const Claim equal = a_claim(ClaimKind::equal_within, kTech, kBase, 0.02);
    CHECK(outcome(equal, quiet_rows(2, 2.5, 2.004, 2)) == Outcome::holds);
    CHECK(outcome(equal, quiet_rows(2, 2.5, 1.996, 2)) == Outcome::holds);
    CHECK(outcome(equal, quiet_rows(2, 2.5, 1.994, 2)) == Outcome::unclear);
    CHECK(outcome(equal, quiet_rows(2, 2.5, 2.05, 2)) == Outcome::fails);
    CHECK(outcome(equal, quiet_rows(2, 2.5, 1.95, 2)) == Outcome::fails);
    const Claim best = a_claim(ClaimKind::best_in_column, kTech, std::nullopt, 0.02);
    CHECK(outcome(best, quiet_rows(2, 2.5, 2.004, 2.1)) == Outcome::holds);
    CHECK(outcome(best, quiet_rows(2.1, 2.5, 2.006, 2)) == Outcome::unclear);
    CHECK(outcome(best, quiet_rows(2.1, 2.5, 2.06, 2)) == Outcome::fails);
    // What is better higher turns round.
    Claim higher = no_worse;
    higher.proxy.better = "higher";
    CHECK(outcome(higher, quiet_rows(2, 2.5, 1.9, 1.994)) == Outcome::unclear);
    CHECK(outcome(higher, quiet_rows(2, 2.5, 1.9, 1.996)) == Outcome::holds);
}

TEST_CASE("the finding says means, bounds, margin and what would settle it") {
    const CheckFinding holds = judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), sweep_of(quiet_rows(2, 2.5, 1.9, 2.004)));
    CHECK_THAT(holds.text, ContainsSubstring("One is as the other. task:validation loss: tech at 50% 2.004, base at 100% 2.000") &&
                               ContainsSubstring("0.004 worse, between 0.019 worse and 0.011 better (each bound 95% sure), margin 0.020"));
    // Told of the claim's own row, whichever side of the margin decides; the bound that refutes is one of two: t(97.5%, 8) is
    // 2.306, and 2.306 x 0.00816 is 0.0188.
    const Claim equal = a_claim(ClaimKind::equal_within, kTech, kBase, 0.02);
    CHECK_THAT(judged(equal, sweep_of(quiet_rows(2, 2.5, 1.994, 2))).text,
               ContainsSubstring("0.006 better, between 0.013 worse and 0.021 better"));
    CHECK_THAT(judged(equal, sweep_of(quiet_rows(2, 2.5, 2.006, 2))).text,
               ContainsSubstring("0.006 worse, between 0.021 worse and 0.013 better"));
    CHECK(*judged(equal, sweep_of(quiet_rows(2, 2.5, 1.994, 2))).effect == Approx(0.006));
    CHECK(holds.check == "claim");
    CHECK(holds.name == "a_table: no_worse");
    CHECK(*holds.effect == Approx(-0.004));
    CHECK(*holds.lower == Approx(-0.004 - 0.0151836).epsilon(1e-4));
    CHECK(*holds.limit == Approx(0.02));
    const CheckFinding unclear = judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), sweep_of(quiet_rows(2, 2.5, 1.9, 2.01)));
    // half < 0.01: t(14) sqrt(2e-4 / 6) = 0.01017 with 6 seeds, t(16) sqrt(2e-4 / 7) = 0.00933 with 7: 4 more of two rows, at
    // half a device-hour and two dollars each. The smallest effect is 2.75 standard errors (noncentral t of 8 degrees).
    CHECK_THAT(unclear.text, ContainsSubstring("4 more seeds of each row would settle it, about 4 device-hours or $16.00"));
    CHECK_THAT(unclear.text, ContainsSubstring("these seeds show 0.022 beyond the claim with 80% power"));
}

// A difference of 0.01 beyond the margin against one of three rows: of 8 degrees P(T > 1.2247) is 0.128, and at a third of
// 5% t is 2.566, so that the bound which refutes is 0.030 - 0.021. The row at the margin would hold after 80,000 seeds; the
// first to refute does after 8 (3 + 8 of each: 24 degrees, 2.345 standard errors, 0.0138).
TEST_CASE("best of a column is refuted by any other row, and its bound is one of as many") {
    const Claim best = a_claim(ClaimKind::best_in_column, kTech, std::nullopt, 0.02);
    const CheckFinding finding = judged(best, sweep_of(quiet_rows(1.97, 2.5, 2.0, 1.9801)));
    CHECK(finding.outcome == Outcome::unclear);
    CHECK_THAT(finding.text, ContainsSubstring("0.030 worse, between 0.045 worse and 0.009 worse (each bound 95% sure, of "
                                               "the farthest of 3 others), margin 0.020"));
    CHECK_THAT(finding.text, ContainsSubstring("; 8 more seeds of each row would settle it"));
    CHECK(*finding.upper == Approx(-0.0090485).epsilon(1e-4));
    // Two ahead of it, of which the nearer takes longer.
    CHECK_THAT(judged(best, sweep_of(quiet_rows(1.97, 2.5, 2.0, 1.975))).text,
               ContainsSubstring("; 8 more seeds of each row would settle it"));
    // All others behind: until the last of them is.
    CHECK_THAT(judged(best, sweep_of(quiet_rows(2, 2.5, 2.01, 2.0))).text,
               ContainsSubstring("; 4 more seeds of each row would settle it"));
    CHECK_THAT(judged(best, sweep_of(quiet_rows(2, 2.5, 2.0199, 2.0))).text, ContainsSubstring("no number of seeds"));
}

TEST_CASE("the chances that are told are those of the verdict, or of the nearer one") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    const auto text = [&](double tech_half) { return judged(claim, sweep_of(quiet_rows(2, 2.5, 1.9, tech_half))).text; };
    // Seed by seed the rows of these tables differ by one number, which leaves no doubt.
    CHECK_THAT(text(2.036), ContainsSubstring("; adjusted p 0.043 (seed by seed 0)"));
    CHECK_THAT(text(2.004), ContainsSubstring("; adjusted p 0.043 (seed by seed 0)"));
    CHECK_THAT(text(2.03), ContainsSubstring("; adjusted p of failing 0.13 (seed by seed 0)"));
    CHECK_THAT(text(2.01), ContainsSubstring("; adjusted p of holding 0.13 (seed by seed 0)"));
}

TEST_CASE("rows that do not count lend no variance") {
    std::vector<Row> rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[1].losses = {1, 2.5, 4};
    SweepResults sweep = sweep_of(rows);
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    CHECK(judged(claim, sweep).outcome == Outcome::unclear);
    for (TrialRow& trial : sweep.trials)
        if (trial.case_key == "base" && trial.axes_json == kHalfBudget) trial.last_point->step = 100;
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
}

TEST_CASE("what would settle a claim is of its stage alone, where there are stages") {
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2.01));
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    CHECK_THAT(judged(claim, sweep).text, !ContainsSubstring(" alone"));
    for (TrialRow& trial : sweep.trials) trial.stage = "finetune";
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("about 4 device-hours or $16.00 of stage finetune alone"));
}

TEST_CASE("ratios are judged by logarithms") {
    std::vector<Row> rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[0].wall_ms = 100'000;
    rows[3].wall_ms = 50'000;
    Claim fraction = a_claim(ClaimKind::at_most_fraction, kTechHalf, kBase, 0.51);
    fraction.proxy.quantity = parse_quantity("train hours", {});
    fraction.proxy.unit = "h";
    const CheckFinding half = judged(fraction, sweep_of(rows));
    CHECK(half.outcome == Outcome::holds);
    CHECK_THAT(half.text, ContainsSubstring("takes 0.5 of it, at most 0.5 (95% sure), claimed at most 0.51"));
    fraction.amount = 0.49;
    CHECK(judged(fraction, sweep_of(rows)).outcome == Outcome::fails);
    Claim fast = fraction;
    fast.kind = ClaimKind::times_as_fast;
    fast.amount = 1.9;
    CHECK(judged(fast, sweep_of(rows)).outcome == Outcome::holds);
    fast.amount = 2.1;
    CHECK(judged(fast, sweep_of(rows)).outcome == Outcome::fails);
    fast.proxy.better = "higher";  // a throughput, of which the half-budget row has half
    fast.amount = 1.1;
    CHECK(judged(fast, sweep_of(rows)).outcome == Outcome::fails);
}

// Logarithms of time spread by 0.223 in two of four rows: the pooled variance is 0.0249, of these rows 0.0311, the standard
// error 0.144, and 2.73 of them 0.393: a third less than "at most", and half as much again as "times as fast".
TEST_CASE("the effect that seeds would show is told as a part of what is claimed") {
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    for (TrialRow& trial : sweep.trials) {
        const bool is_full = trial.axes_json == kFullBudget, is_loud = is_full == (trial.case_key == "base");
        const double factor = !is_loud || trial.seed == 2 ? 1 : trial.seed == 1 ? 0.8 : 1.25;
        trial.last_point->wall_ms = static_cast<std::int64_t>(factor * (is_full ? 100'000 : 50'000));
    }
    Claim claim = a_claim_on_time(0.51);
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("these seeds show 32.5% beyond the claim"));
    claim.kind = ClaimKind::times_as_fast;
    claim.amount = 1.9;
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("these seeds show 48.1% beyond the claim"));
}

TEST_CASE("the share of a gap that is closed has an interval, and none where there is no gap") {
    Claim gap = a_claim(ClaimKind::closes_gap, kTechHalf, kBase, 0.5);
    gap.from = kBaseHalf;
    const CheckFinding closes = judged(gap, sweep_of(quiet_rows(2, 2.5, 1.9, 2.1)));
    CHECK(closes.outcome == Outcome::holds);
    CHECK_THAT(closes.text, ContainsSubstring("closes 80% of the gap, [7") && ContainsSubstring("claimed at least 50%"));
    CHECK(judged(gap, sweep_of(quiet_rows(2, 2.5, 1.9, 2.4))).outcome == Outcome::fails);
    CHECK(judged(gap, sweep_of(quiet_rows(2, 2.5, 1.9, 2.25))).outcome == Outcome::unclear);
    const CheckFinding none = judged(gap, sweep_of(quiet_rows(2, 2.01, 1.9, 2.0)));
    CHECK(none.outcome == Outcome::unclear);
    CHECK_THAT(none.text, ContainsSubstring("the gap from base at 50% to base at 100% cannot be told from none"));
}

TEST_CASE("what cannot be judged says why") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    std::vector<Row> rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[3].losses = {2, 2.01};
    CHECK_THAT(judged(claim, sweep_of(rows)).text, ContainsSubstring("no verdict below 3 seeds: tech at 50% has 2"));
    CHECK(judged(claim, sweep_of(rows)).outcome == Outcome::unclear);
    rows[3].losses.clear();
    CHECK(judged(claim, sweep_of(rows)).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep_of(rows)).text, ContainsSubstring("the sweep has tech, and not at 50%"));
    rows[2].losses.clear();
    CHECK_THAT(judged(claim, sweep_of(rows)).text, ContainsSubstring("the sweep has no case tech"));
    rows = quiet_rows(2, 2.5, 1.9, 2);
    for (Row& row : rows) row.losses = {2, 2, 2};
    CHECK(judged(claim, sweep_of(rows)).outcome == Outcome::unclear);
    CHECK_THAT(judged(claim, sweep_of(rows)).text, ContainsSubstring("without any spread over seeds"));
    rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[3].losses[1] = NAN;
    CHECK(judged(claim, sweep_of(rows)).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep_of(rows)).text, ContainsSubstring("seed 2 of tech at 50% has the value nan"));
    SweepResults paper = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    paper.scale = "paper";
    CHECK_THAT(judged(claim, paper).text, ContainsSubstring("not judged at this scale: too dear"));
    CHECK(judged(claim, a_sweep_of({})).outcome == Outcome::missing);
}

TEST_CASE("a seed that diverged is counted and never dropped, and one that waits is told") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    TrialRow more = sweep.trials.back();
    more.seed = 4;
    more.state = "pending";
    more.ordinal = 99;
    sweep.trials.push_back(more);
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("; 1 of 4 seeds of tech at 50% have not finished"));
    sweep.trials.back().state = "failed";
    sweep.trials.back().fail_class = "nan";
    CHECK(judged(claim, sweep).outcome == Outcome::unclear);
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("1 of 4 seeds of tech at 50% diverged (seed 4)"));
}

TEST_CASE("a row whose schedule did not end does not count") {
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    sweep.trials.back().last_point->seqlen = 32;
    const CheckFinding finding = judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), sweep);
    CHECK(finding.outcome == Outcome::missing);
    CHECK_THAT(finding.text, ContainsSubstring("tech at 50% does not count as measured"));
}

TEST_CASE("seeds of a later stage are averaged within the seed that they nest in") {
    SweepResults sweep = sweep_of({{kBase, {2, 2.01, 1.99}}, {kTechHalf, {1, 3, 1, 3.02, 1, 2.98}}});
    std::size_t nested = 0;
    for (TrialRow& trial : sweep.trials)
        if (trial.case_key == "tech") {
            trial.seeds = fmt::format("{}.{}", nested / 2 + 1, nested % 2 + 1);
            ++nested;
        }
    const CheckFinding finding = judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.05), sweep);
    CHECK(finding.outcome == Outcome::holds);  // 2, 2.01 and 1.99, not six values from 1 to 3
}

TEST_CASE("rows of another stage lend no variance, and are compared with none of this one") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2.004));
    for (TrialRow& trial : sweep.trials) trial.stage = "pretrain";
    for (const TrialRow& loud : sweep_of({{kBase, {1, 2, 3}}, {kTechHalf, {0, 4, 8}}}).trials) {
        sweep.trials.push_back(loud);
        sweep.trials.back().stage = "finetune";
        sweep.trials.back().ordinal += 100;
    }
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
    for (TrialRow& trial : sweep.trials)
        if (trial.case_key == "tech" && trial.stage == "pretrain") trial.scores.clear();
    CHECK(judged(claim, sweep).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("tech at 50% has it in stage finetune, and base at 100% in stage pretrain"));
}

TEST_CASE("a margin that was another one when the claim was judged is told") {
    const PublishedTable before = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.01)});
    const PublishedTable after = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02)});
    const SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    std::vector<Judged> first;
    for (const ClaimFinding& one : check_claims(before, sweep, {})) first.push_back(one.judged);
    const auto rows = verdict_rows(first, "uid", rule_json(ClaimRule{}), 1'700'000'000'000);
    CHECK_THAT(check_claims(after, sweep, rows).front().judged.finding.text,
               ContainsSubstring("its margin was 0.01 when it was judged on 2023-11-14"));
    CHECK_THAT(check_claims(before, sweep, rows).front().judged.finding.text, !ContainsSubstring("was judged"));
}

TEST_CASE("a margin that was another one when the sweep first ran is told, judged before or not") {
    const PublishedTable before = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.01)});
    const PublishedTable after = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02)});
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    sweep.created_ms = 1'700'000'000'000;
    const auto told = [&](const PublishedTable& table, std::span<const results_db::VerdictRow> earlier = {}) {
        return check_claims(table, sweep, earlier).front().judged.finding.text;
    };
    CHECK_THAT(told(after), !ContainsSubstring("its margin was"));  // nobody knows
    sweep.claims_json = claims_json(before, "proxy");
    CHECK_THAT(told(after), ContainsSubstring("its margin was 0.01 when the sweep first ran on 2023-11-14"));
    CHECK_THAT(told(before), !ContainsSubstring("first ran"));
    // A later verdict by the changed margin does not hide it.
    std::vector<Judged> later;
    for (const ClaimFinding& one : check_claims(after, sweep, {})) later.push_back(one.judged);
    const auto rows = verdict_rows(later, "uid", rule_json(ClaimRule{}), 1'800'000'000'000);
    CHECK_THAT(told(after, rows), ContainsSubstring("first ran on 2023-11-14"));
    // Of what is not judged at a scale nothing is kept.
    CHECK_THAT(claims_json(before, "proxy"), ContainsSubstring(R"("margin":0.01)"));
    CHECK(claims_json(before, "paper") == R"({"claims":[],"table":"a_table"})");
    // All that changed is told: a measure too.
    PublishedTable other = after;
    other.claims[0].proxy.quantity = parse_quantity("task:validation bits_per_byte", {});
    other.claims[0].amount = 7;
    const std::string all = told(other);
    CHECK_THAT(all, ContainsSubstring("its margin was 0.01") && ContainsSubstring("its bound was 0.01") &&
                        ContainsSubstring("its measure was \"task:validation loss\""));
    // A claim that came later was not named before anything ran.
    sweep.claims_json = R"({"table":"another","claims":[{"claim":"no_worse","margin":0.5,"amount":0.5}]})";
    CHECK_THAT(told(after), ContainsSubstring("it was not among the claims when the sweep first ran on 2023-11-14"));
    sweep.claims_json = R"({"table":"a_table","claims":[1,{"claim":2}]})";
    CHECK_THAT(told(after), ContainsSubstring("it was not among the claims"));
    for (const char* damaged : {"[]", "{}", "nothing", R"({"table":"a_table","claims":[{"claim":"no_worse"}]})"}) {
        sweep.claims_json = damaged;
        CHECK_THAT(told(after), !ContainsSubstring("first ran"));
    }
}

TEST_CASE("exit codes and words of a check of claims") {
    const SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2.1));
    const auto code = [&](const Claim& claim, bool strict) {
        const PublishedTable table = table_of({claim});
        return exit_code_of(claims_report(check_claims(table, sweep, {}), "quick", table), strict);
    };
    CHECK(code(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), false) == kExitWorse);
    CHECK(code(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.1), false) == kExitOk);
    CHECK(code(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.1), true) == kExitUnclear);
    CHECK(code(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.2), true) == kExitOk);
    CHECK(code(a_claim(ClaimKind::no_worse, {"other", 1}, kBase, 0.2), false) == kExitNothing);
    const PublishedTable table = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02)});
    CHECK(counts_text(claims_report(check_claims(table, sweep, {}), "quick", table)) == "1 fails");
}

// The truth of every claim is at its margin: of a table none may hold, or fail, with a chance above 5% each. Measured over
// 4,000 tables of 5 rows with 3 seeds: any of four false "holds" 4.6%, "fails" 4.4%.
TEST_CASE("tables whose truth is at every margin: the family is wrong as often as was said") {
    const unsigned seed = std::random_device{}();
    std::mt19937_64 random{seed};
    std::normal_distribution<double> normal;
    std::vector<Claim> claims;
    for (int i = 0; i < 4; ++i) {
        Claim claim = a_claim(ClaimKind::no_worse, {fmt::format("tech{}", i), 1}, kBase, 1);
        claim.id += std::to_string(i);
        claims.push_back(claim);
    }
    const PublishedTable table = table_of(claims);
    constexpr int kTables = 600;
    int holds = 0, fails = 0;
    for (int trial = 0; trial < kTables; ++trial) {
        std::vector<Row> rows = {{kBase, {}}};
        for (int i = 0; i < 4; ++i) rows.push_back({{fmt::format("tech{}", i), 1}, {}});
        for (Row& row : rows)
            for (int s = 0; s < 3; ++s) row.losses.push_back((row.row.case_name == "base" ? 2 : 3) + normal(random));
        bool any_holds = false, any_fails = false;
        for (const ClaimFinding& one : check_claims(table, sweep_of(rows), {})) {
            any_holds = any_holds || one.judged.finding.outcome == Outcome::holds;
            any_fails = any_fails || one.judged.finding.outcome == Outcome::fails;
        }
        holds += any_holds;
        fails += any_fails;
    }
    std::printf("seed %u: of %d tables any false holds %.4f, any false fails %.4f\n", seed, kTables, 1.0 * holds / kTables,
                1.0 * fails / kTables);
    CHECK(1.0 * holds / kTables < 0.08);  // 0.05 and three standard errors
    CHECK(1.0 * fails / kTables < 0.08);
    CHECK(holds + fails > 0);
}

TEST_CASE("A row that is stale has no value to judge a claim by, and none of its spread is pooled") {
    const SweepResults fresh = sweep_of(quiet_rows(1, 1.1, 1, 1.1));
    const Claim claim = a_claim(ClaimKind::no_worse, kTech, kBase, 0.05);
    CHECK(judged(claim, fresh).outcome == Outcome::holds);
    for (const char* case_key : {"tech", "base"}) {
        SweepResults sweep = fresh;
        for (TrialRow& trial : sweep.trials)
            if (trial.case_key == case_key && trial.axes_json == kFullBudget && trial.seed == 2)
                trial.stale = "data: the training data has changed";
        const CheckFinding finding = judged(claim, sweep);
        CHECK(finding.outcome == Outcome::missing);
        CHECK_THAT(finding.text, ContainsSubstring("at 100% is stale by data: the training data has changed"));
    }
    // A stale score is of its own quantity alone.
    for (const char* measure : {"loss", "acc"}) {
        SweepResults sweep = fresh;
        for (TrialRow& trial : sweep.trials) {
            trial.scores.push_back(a_score("copa", "acc", 0.5));
            for (results_db::ScoreRow& score : trial.scores)
                if (score.measure == measure) score.stale = "eval: scoring version 1, now 2";
        }
        CHECK((judged(claim, sweep).outcome == Outcome::missing) == (std::string(measure) == "loss"));
    }
    // Rows that no claim is of lend their spread over seeds only while they are not stale.
    SweepResults wild = sweep_of({{kBase, {0.99, 1, 1.01}}, {kTech, {0.99, 1, 1.01}}, {kTechHalf, {0, 5, 10}}});
    const double wide = judged(claim, wild).upper.value();
    for (TrialRow& trial : wild.trials)
        if (trial.axes_json == kHalfBudget) trial.stale = "code: result epoch 3, now 4";
    CHECK(judged(claim, wild).upper.value() < wide);
}

TEST_CASE("a claim on a task whose baseline guesses is not judged") {
    SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2));
    const auto score = [&](double of_base) {
        for (TrialRow& trial : sweep.trials) {
            const double above = trial.case_key == "base" ? of_base : 0.7;
            results_db::ScoreRow row;
            row.task = "piqa";
            row.measure = "acc";
            row.better = "higher";
            row.value = above + 0.001 * static_cast<double>(trial.seed);
            row.n = 400;
            row.chance = 0.5;
            row.standard_error = 0.025;
            trial.scores = {row, a_validation("loss", 2)};
        }
    };
    Claim claim = a_claim(ClaimKind::better, kTech, kBase, 0);
    claim.proxy.quantity = parse_quantity("task:piqa acc", {});
    claim.proxy.better = "higher";
    score(0.5);
    CHECK(judged(claim, sweep).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("task:piqa acc of base[budget_fraction=1.0] cannot be told from guessing"));
    score(0.6);
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
}

TEST_CASE("Beside a verdict stands that the best learning rate of one of its rows is at the end of its list") {
    SweepResults sweep = sweep_of({{kBase, {3.00, 3.01, 2.99, 3.00}}, {kTech, {2.50, 2.51, 2.49, 2.50}}});
    const PublishedTable table = table_of({a_claim(ClaimKind::no_worse, kTech, kBase, 0.02)});
    const auto text = [&] { return check_claims(table, sweep, {}).front().judged.finding.text; };
    CHECK(text().find("learning rate") == std::string::npos);
    const auto search = [&](const char* case_key, const char* best, const char* other) {
        for (const auto& [rate, loss] : {std::pair{best, 2.0}, {other, 3.0}})
            sweep.searched.push_back(a_finished_trial(
                case_key, fmt::format(R"({{"train.budget_fraction":1.0,"train.learning_rate":{}}})", rate).c_str(), 7, loss));
    };
    search("another", "0.001", "0.002");
    CHECK(text().find("learning rate") == std::string::npos);
    search("tech", "0.002", "0.001");
    CHECK_THAT(text(), ContainsSubstring(". The best learning rate is at the end of its list for tech[budget_fraction=1.0]"));
    // The best of a column has all others as rivals.
    PublishedTable best = table_of({a_claim(ClaimKind::best_in_column, kBase, std::nullopt, 0.02)});
    best.rows = {best.rows[0], best.rows[2]};
    CHECK_THAT(check_claims(best, sweep, {}).front().judged.finding.text,
               ContainsSubstring("at the end of its list for tech[budget_fraction=1.0]"));
}

TEST_CASE("a claim on time is unclear where its rows were held up differently") {
    const Claim claim = a_claim_on_time(0.9);
    const std::vector<Row> rows = rows_of_half_the_time();
    const auto with_share = [&](double of_base) {
        SweepResults sweep = sweep_of(rows);
        for (TrialRow& trial : sweep.trials) {
            results_db::AttemptRow attempt = an_attempt_on({"cpu", 1, 1, 1}, {10, 0, 0, 0, 0});
            attempt.cpu_seconds = trial.case_key == "base" ? 10 * of_base : 9.9;
            add_attempt(trial, attempt);
        }
        return judged(claim, sweep);
    };
    CHECK(with_share(0.95).outcome == Outcome::holds);
    CHECK(with_share(0.5).outcome == Outcome::unclear);
    CHECK_THAT(with_share(0.5).text, ContainsSubstring("held up alike, and of their time these computed: "
                                                       "tech[budget_fraction=0.5] for 99%, base[budget_fraction=1.0] for 50%"));
}

TEST_CASE("a claim on dollars is judged by the rule of the seconds that they follow from") {
    Claim claim = a_claim_on_time(0.9);
    claim.proxy.quantity = parse_quantity("cost usd", {});
    claim.proxy.unit = "USD";
    const std::vector<Row> rows = rows_of_half_the_time();
    const auto outcome = [&](const char* processor, double of_base) {
        SweepResults sweep = sweep_of(rows);
        for (TrialRow& trial : sweep.trials) {
            const bool is_base = trial.case_key == "base";
            auto attempt = an_attempt_on({"cpu", 1, 1, 1}, {10, 0, 0, 0, 0}, is_base ? processor : "Example CPU");
            attempt.cpu_seconds = is_base ? 10 * of_base : 9.9;
            add_attempt(trial, attempt);
            trial.usd = 0.001 * static_cast<double>(trial.last_point->wall_ms);
        }
        return judged(claim, sweep).outcome;
    };
    CHECK(outcome("Example CPU", 0.95) == Outcome::holds);
    CHECK(outcome("Example CPU", 0.5) == Outcome::unclear);
    CHECK(outcome("Another CPU", 0.95) == Outcome::missing);
}

TEST_CASE("a claim that a proxy judges by another metric than the paper's says so in its line") {
    Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    const SweepResults sweep = sweep_of(quiet_rows(2, 2.5, 1.9, 2.004));
    CHECK_THAT(judged(claim, sweep).text, !ContainsSubstring("ubstitute metric"));
    claim.paper = claim.proxy;
    CHECK_THAT(judged(claim, sweep).text, !ContainsSubstring("ubstitute metric"));
    claim.paper.quantity = parse_quantity("suite:data_efficiency average", {});
    CHECK_THAT(judged(claim, sweep).text,
               ContainsSubstring("One is as the other. Substitute metric, for suite:data_efficiency average: "
                                 "task:validation loss: tech at 50% 2.004"));
    CHECK_THAT(judged(claim, sweep_of({{kBase, {2, 2.1}}, {kTechHalf, {2, 2.1}}})).text,
               ContainsSubstring("Substitute metric, for suite:data_efficiency average: no verdict below 3 seeds"));
    SweepResults at_paper_scale = sweep;
    at_paper_scale.scale = "paper";
    CHECK_THAT(judged(claim, at_paper_scale).text, !ContainsSubstring("ubstitute metric"));
}

// Among claims whose adjusted chances are all 1, the unadjusted one names the side of the mean.
TEST_CASE("an unclear claim is described from the side of its mean, however many claims there are") {
    std::vector<Claim> claims;
    for (int i = 0; i < 8; ++i) {
        claims.push_back(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02));
        claims.back().id += std::to_string(i);
    }
    const auto text = [&](double tech_half) {
        return check_claims(table_of(claims), sweep_of(quiet_rows(2, 2.5, 1.9, tech_half)), {}).front().judged.finding.text;
    };
    CHECK_THAT(text(2.021), ContainsSubstring("adjusted p of failing 1"));
    CHECK_THAT(text(2.019), ContainsSubstring("adjusted p of holding 1"));
}

TEST_CASE("a claim's line says by which variance it is judged, and each row's own decides where they differ") {
    const Claim claim = a_claim(ClaimKind::better, kTech, kBase, 0);
    CHECK_THAT(judged(claim, sweep_of(quiet_rows(2, 2.5, 1.95, 2))).text,
               ContainsSubstring("; by the variance pooled over rows (no test of equal variances)"));
    // Two degrees of each of the claim's rows alone make the bound wider.
    CHECK_THAT(judged(claim, sweep_of(quiet_rows(2, 2.5, 1.984, 2))).text,
               ContainsSubstring("; the verdict rests on pooling alone: adjusted p 0.0") && ContainsSubstring(" by each row's own variance"));
    CHECK_THAT(judged(claim, sweep_of(quiet_rows(2, 2.5, 1.9, 2))).text, !ContainsSubstring("rests on pooling"));
    // The two rows of the claim spread by 0.1, the others by 0.001: pooled, a difference of 0.15 would hold.
    const auto around = [](double mean, double spread) {
        return std::vector<double>{mean - spread, mean + 0.1 * spread, mean + 0.9 * spread};
    };
    const CheckFinding own = judged(claim, sweep_of({{kBase, around(2, 0.1)},
                                                     {kBaseHalf, around(2.5, 0.001)},
                                                     {kTech, around(1.85, 0.1)},
                                                     {kTechHalf, around(2, 0.001)}}));
    CHECK_THAT(own.text, ContainsSubstring("; by each row's own variance (Welch; Brown-Forsythe p 0.") &&
                             ContainsSubstring(" over 4 rows)"));
    // Variances 0.0091 and 0.0091 over three seeds: 4 degrees, t(95%) 2.1318 times 0.077889 is 0.16604.
    CHECK(own.outcome == Outcome::unclear);
    CHECK(*own.lower == Approx(0.15 - 0.16604).epsilon(1e-3));
}

TEST_CASE("a claim on time is missing where its rows were trained on slots of several shapes") {
    const Claim claim = a_claim_on_time(0.9);
    const std::vector<Row> rows = rows_of_half_the_time();
    SweepResults sweep = sweep_of(rows);
    for (TrialRow& trial : sweep.trials) add_attempt(trial, an_attempt_on({"cpu", 2, 1, 1}, {10, 0, 0, 0, 0}));
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
    const auto on_four = [](SweepResults of, const std::string& case_key, std::int64_t seed) {
        for (TrialRow& trial : of.trials)
            if (trial.case_key == case_key && trial.seed == seed) trial.attempt_rows[0].shape.devices = 4;
        return of;
    };
    CheckFinding finding = judged(claim, on_four(sweep, kTechHalf.case_name, 2));
    CHECK(finding.outcome == Outcome::missing);
    CHECK_THAT(finding.text, ContainsSubstring("one slot shape") && ContainsSubstring("4 threads of Example CPU"));
    // Every trial of one row went on elsewhere: it has no time at all.
    SweepResults moved = sweep;
    for (TrialRow& trial : moved.trials)
        if (trial.case_key == kBase.case_name) add_attempt(trial, an_attempt_on({"cpu", 8, 1, 1}, {10, 0, 0, 0, 0}));
    finding = judged(claim, moved);
    CHECK(finding.outcome == Outcome::missing);
    CHECK_THAT(finding.text, ContainsSubstring("one slot shape") && ContainsSubstring("8 threads of Example CPU"));
}

TEST_CASE("claims of a table that is of one stage are judged by the rows of that stage") {
    const SweepResults one = sweep_of({{kBase, {3.00, 3.01, 2.99, 3.00}}, {kTech, {2.50, 2.51, 2.49, 2.50}}});
    const SweepResults other = sweep_of({{kBase, {2.00, 2.01, 1.99, 2.00}}, {kTech, {2.50, 2.51, 2.49, 2.50}}});
    SweepResults sweep = one;
    for (TrialRow& trial : sweep.trials) trial.stage = "pretrain";
    for (TrialRow trial : other.trials) {
        trial.stage = "finetune";
        trial.config_hash += "f";
        sweep.trials.push_back(trial);
    }
    PublishedTable table = table_of({a_claim(ClaimKind::no_worse, kTech, kBase, 0.02)});
    const auto outcome = [&](const SweepResults& of) { return check_claims(table, of, {}).front().judged.finding.outcome; };
    table.stage = "finetune";
    CHECK(outcome(sweep) == Outcome::fails);
    table.stage = "pretrain";
    CHECK(outcome(sweep) == Outcome::holds);
    CHECK(outcome(one) == Outcome::holds);  // without stages all rows are its own
}
