// Claims against tables of known truth.

#include "tests/reporting/claims/a_claim.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::reporting;

// Four rows of variance 1e-4: pooled 1e-4 with 8 degrees; the standard error of a difference is 0.00816, t(95%,
// 8) 1.8595, so that a bound is 0.01518 from the difference.
TEST_CASE("no worse, better, equal and best: bounds against margins") {
    const auto outcome = [](const Claim& claim, const std::vector<ClaimedLosses>& rows) {
        return judged(claim, sweep_with(rows)).outcome;
    };
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
    // The direction turns round for a measure that is better higher.
    Claim higher = no_worse;
    higher.proxy.better = "higher";
    CHECK(outcome(higher, quiet_rows(2, 2.5, 1.9, 1.994)) == Outcome::unclear);
    CHECK(outcome(higher, quiet_rows(2, 2.5, 1.9, 1.996)) == Outcome::holds);
}

TEST_CASE("the finding says means, bounds, margin and what would settle it") {
    const CheckFinding holds =
        judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), sweep_with(quiet_rows(2, 2.5, 1.9, 2.004)));
    CHECK_THAT(holds.text,
               ContainsSubstring("One is as the other. task:validation loss: tech at 50% 2.004, base at 100% 2.000") &&
                   ContainsSubstring(
                       "0.004 worse, between 0.019 worse and 0.011 better (one-sided 95% bounds), margin 0.020"));
    // Told of the claim's own row, whichever side of the margin decides; the bound that refutes is one of two: t(97.5%,
    // 8) is 2.306, and 2.306 x 0.00816 is 0.0188.
    const Claim equal = a_claim(ClaimKind::equal_within, kTech, kBase, 0.02);
    CHECK_THAT(judged(equal, sweep_with(quiet_rows(2, 2.5, 1.994, 2))).text,
               ContainsSubstring("0.006 better, between 0.013 worse and 0.021 better"));
    CHECK_THAT(judged(equal, sweep_with(quiet_rows(2, 2.5, 2.006, 2))).text,
               ContainsSubstring("0.006 worse, between 0.021 worse and 0.013 better"));
    CHECK(*judged(equal, sweep_with(quiet_rows(2, 2.5, 1.994, 2))).effect == Approx(0.006));
    CHECK(holds.check == "claim");
    CHECK(holds.name == "a_table: no_worse");
    CHECK(*holds.effect == Approx(-0.004));
    CHECK(*holds.lower == Approx(-0.004 - 0.0151836).epsilon(1e-4));
    CHECK(*holds.limit == Approx(0.02));
    const CheckFinding unclear =
        judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), sweep_with(quiet_rows(2, 2.5, 1.9, 2.01)));
    // half < 0.01: t(14) sqrt(2e-4 / 6) = 0.01017 with 6 seeds, t(16) sqrt(2e-4 / 7) = 0.00933 with 7: 4 more of two
    // rows, at half a device-hour and two dollars each. The smallest effect is 2.75 standard errors (noncentral t of 8
    // degrees).
    CHECK_THAT(unclear.text,
               ContainsSubstring("4 more seeds of each row would settle it, about 4 device-hours or $16.00"));
    CHECK_THAT(unclear.text, ContainsSubstring("these seeds show 0.022 beyond the claim with 80% power"));
}

// A difference of 0.01 beyond the margin against one of three rows: of 8 degrees P(T > 1.2247) is 0.128, and at a third
// of 5% t is 2.566, so that the bound which refutes is 0.030 - 0.021. The row at the margin would hold after 80,000
// seeds; the first to refute does after 8 (3 + 8 of each: 24 degrees, 2.345 standard errors, 0.0138).
TEST_CASE("best of a column is refuted by any other row, and its bound is one of as many") {
    const Claim best = a_claim(ClaimKind::best_in_column, kTech, std::nullopt, 0.02);
    const CheckFinding finding = judged(best, sweep_with(quiet_rows(1.97, 2.5, 2.0, 1.9801)));
    CHECK(finding.outcome == Outcome::unclear);
    CHECK_THAT(finding.text,
               ContainsSubstring("0.030 worse, between 0.045 worse and 0.009 worse (one-sided 95% bounds, to "
                                 "the farthest of 3 others), margin 0.020"));
    CHECK_THAT(finding.text, ContainsSubstring("; 8 more seeds of each row would settle it"));
    CHECK(*finding.upper == Approx(-0.0090485).epsilon(1e-4));
    // Two ahead of it, of which the nearer takes longer.
    CHECK_THAT(judged(best, sweep_with(quiet_rows(1.97, 2.5, 2.0, 1.975))).text,
               ContainsSubstring("; 8 more seeds of each row would settle it"));
    // The claim holds once the last of the others is worse.
    CHECK_THAT(judged(best, sweep_with(quiet_rows(2, 2.5, 2.01, 2.0))).text,
               ContainsSubstring("; 4 more seeds of each row would settle it"));
    CHECK_THAT(judged(best, sweep_with(quiet_rows(2, 2.5, 2.0199, 2.0))).text, ContainsSubstring("no number of seeds"));
}

TEST_CASE("the printed chances are those of the verdict, or of the nearer one") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    const auto text = [&](double tech_half) {
        return judged(claim, sweep_with(quiet_rows(2, 2.5, 1.9, tech_half))).text;
    };
    // Seed by seed the rows of these tables differ by one number, which leaves no doubt.
    CHECK_THAT(text(2.036), ContainsSubstring("; Holm-adjusted p 0.043 (seed by seed 0)"));
    CHECK_THAT(text(2.004), ContainsSubstring("; Holm-adjusted p 0.043 (seed by seed 0)"));
    CHECK_THAT(text(2.03), ContainsSubstring("; Holm-adjusted p of refuting 0.13 (seed by seed 0)"));
    CHECK_THAT(text(2.01), ContainsSubstring("; Holm-adjusted p of supporting 0.13 (seed by seed 0)"));
}

TEST_CASE("ratios are judged by logarithms") {
    std::vector<ClaimedLosses> rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[0].wall_ms = 100'000;
    rows[3].wall_ms = 50'000;
    Claim fraction = a_claim(ClaimKind::at_most_fraction, kTechHalf, kBase, 0.51);
    fraction.proxy.quantity = parse_quantity("train hours", {});
    fraction.proxy.unit = "h";
    const CheckFinding half = judged(fraction, sweep_with(rows));
    CHECK(half.outcome == Outcome::holds);
    CHECK_THAT(half.text,
               ContainsSubstring("takes 0.5 of it, at most 0.5 (one-sided 95% bound), claimed at most 0.51"));
    fraction.amount = 0.49;
    CHECK(judged(fraction, sweep_with(rows)).outcome == Outcome::fails);
    Claim fast = fraction;
    fast.kind = ClaimKind::times_as_fast;
    fast.amount = 1.9;
    CHECK(judged(fast, sweep_with(rows)).outcome == Outcome::holds);
    fast.amount = 2.1;
    CHECK(judged(fast, sweep_with(rows)).outcome == Outcome::fails);
    fast.proxy.better = "higher";  // a throughput, of which the half-budget row has half
    fast.amount = 1.1;
    CHECK(judged(fast, sweep_with(rows)).outcome == Outcome::fails);
}

// Logarithms of time spread by 0.223 in two of four rows: the pooled variance is 0.0249, of these rows 0.0311, the
// standard error 0.144, and 2.73 of them 0.393: a third less than "at most", and half as much again as "times as fast".
TEST_CASE("the effect that seeds would show is printed as a share of the claimed one") {
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    for (Trial& trial : sweep.trials) {
        const bool is_full = trial.axes_json == kFullBudget, is_loud = is_full == (trial.recipe == "base");
        const double factor = !is_loud || trial.seed == 2 ? 1 : trial.seed == 1 ? 0.8 : 1.25;
        trial.last_point->wall_ms = static_cast<std::int64_t>(factor * (is_full ? 100'000 : 50'000));
    }
    Claim claim = a_claim_on_time(0.51);
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("these seeds show 32.5% beyond the claim"));
    claim.kind = ClaimKind::times_as_fast;
    claim.amount = 1.9;
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("these seeds show 48.1% beyond the claim"));
}

TEST_CASE("the closed share of a gap has an interval, but not without a gap") {
    Claim gap = a_claim(ClaimKind::closes_gap, kTechHalf, kBase, 0.5);
    gap.from = kBaseHalf;
    const CheckFinding closes = judged(gap, sweep_with(quiet_rows(2, 2.5, 1.9, 2.1)));
    CHECK(closes.outcome == Outcome::holds);
    CHECK_THAT(closes.text,
               ContainsSubstring("closes 80% of the gap, [7") && ContainsSubstring("claimed at least 50%"));
    CHECK(judged(gap, sweep_with(quiet_rows(2, 2.5, 1.9, 2.4))).outcome == Outcome::fails);
    CHECK(judged(gap, sweep_with(quiet_rows(2, 2.5, 1.9, 2.25))).outcome == Outcome::unclear);
    const CheckFinding none = judged(gap, sweep_with(quiet_rows(2, 2.01, 1.9, 2.0)));
    CHECK(none.outcome == Outcome::unclear);
    CHECK_THAT(none.text, ContainsSubstring("the gap from base at 50% to base at 100% is not significant"));
}

TEST_CASE("what cannot be judged says why") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    std::vector<ClaimedLosses> rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[3].losses = {2, 2.01};
    CHECK_THAT(judged(claim, sweep_with(rows)).text, ContainsSubstring("no verdict below 3 seeds: tech at 50% has 2"));
    CHECK(judged(claim, sweep_with(rows)).outcome == Outcome::unclear);
    rows[3].losses.clear();
    CHECK(judged(claim, sweep_with(rows)).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep_with(rows)).text, ContainsSubstring("the sweep has tech, and not at 50%"));
    rows[2].losses.clear();
    CHECK_THAT(judged(claim, sweep_with(rows)).text, ContainsSubstring("the sweep has no recipe tech"));
    rows = quiet_rows(2, 2.5, 1.9, 2);
    for (ClaimedLosses& row : rows) row.losses = {2, 2, 2};
    CHECK(judged(claim, sweep_with(rows)).outcome == Outcome::unclear);
    CHECK_THAT(judged(claim, sweep_with(rows)).text, ContainsSubstring("the seeds have no spread"));
    rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[3].losses[1] = NAN;
    CHECK(judged(claim, sweep_with(rows)).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep_with(rows)).text, ContainsSubstring("seed 2 of tech at 50% has the value nan"));
    Results paper = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    paper.scale = "paper";
    CHECK_THAT(judged(claim, paper).text, ContainsSubstring("not judged at this scale: too dear"));
    CHECK(judged(claim, a_sweep_of({})).outcome == Outcome::missing);
}

TEST_CASE("a margin that has changed since the claim was judged is reported") {
    const PublishedTable before = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.01)});
    const PublishedTable after = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02)});
    const Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    std::vector<Judged> first;
    for (const ClaimFinding& one : check_claims(before, sweep, {})) first.push_back(one.judged);
    const auto rows = verdict_rows(first, "uid", rule_json(ClaimRule{}), 1'700'000'000'000);
    CHECK_THAT(check_claims(after, sweep, rows).front().judged.finding.text,
               ContainsSubstring("its margin was 0.01 when it was judged on 2023-11-14"));
    CHECK_THAT(check_claims(before, sweep, rows).front().judged.finding.text, !ContainsSubstring("was judged"));
}

TEST_CASE("a margin that has changed since the sweep first ran is reported, judged before or not") {
    const PublishedTable before = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.01)});
    const PublishedTable after = table_of({a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02)});
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    sweep.created_ms = 1'700'000'000'000;
    const auto report = [&](const PublishedTable& table, std::span<const results_db::VerdictRow> earlier = {}) {
        return check_claims(table, sweep, earlier).front().judged.finding.text;
    };
    CHECK_THAT(report(after), !ContainsSubstring("its margin was"));  // nobody knows
    sweep.claims_json = claims_json(before, "proxy");
    CHECK_THAT(report(after), ContainsSubstring("its margin was 0.01 when the sweep first ran on 2023-11-14"));
    CHECK_THAT(report(before), !ContainsSubstring("first ran"));
    // A later verdict by the changed margin does not hide it.
    std::vector<Judged> later;
    for (const ClaimFinding& one : check_claims(after, sweep, {})) later.push_back(one.judged);
    const auto rows = verdict_rows(later, "uid", rule_json(ClaimRule{}), 1'800'000'000'000);
    CHECK_THAT(report(after, rows), ContainsSubstring("first ran on 2023-11-14"));
    // A claim that is not judged at a scale leaves nothing in the record.
    CHECK_THAT(claims_json(before, "proxy"), ContainsSubstring(R"("margin":0.01)"));
    CHECK(claims_json(before, "paper") == R"({"claims":[],"table":"a_table"})");
    // Every change is reported, a measure too.
    PublishedTable other = after;
    other.claims[0].proxy.quantity = parse_quantity("task:validation bits_per_byte", {});
    other.claims[0].amount = 7;
    const std::string all = report(other);
    CHECK_THAT(all, ContainsSubstring("its margin was 0.01") && ContainsSubstring("its bound was 0.01") &&
                        ContainsSubstring("its measure was \"task:validation loss\""));
    // A claim that came later was not named before anything ran.
    sweep.claims_json = R"({"table":"another","claims":[{"claim":"no_worse","margin":0.5,"amount":0.5}]})";
    CHECK_THAT(report(after), ContainsSubstring("it was not among the claims when the sweep first ran on 2023-11-14"));
    sweep.claims_json = R"({"table":"a_table","claims":[1,{"claim":2}]})";
    CHECK_THAT(report(after), ContainsSubstring("it was not among the claims"));
    for (const char* damaged : {"[]", "{}", "nothing", R"({"table":"a_table","claims":[{"claim":"no_worse"}]})"}) {
        sweep.claims_json = damaged;
        CHECK_THAT(report(after), !ContainsSubstring("first ran"));
    }
}

TEST_CASE("the notes of a check of claims and docs/statistics.md explain the terms of its findings") {
    std::string notes;
    for (const std::string& note : claim_notes({})) notes += note + "\n";
    const std::string page = test::read_text(std::filesystem::path(DEFT_SOURCE_DIR) / "docs/statistics.md");
    for (const char* term : {"ubstitute metric", "argin", "Holm-adjusted p", "eed by seed", "Welch", "Brown-Forsythe",
                             "ower", "refuting", "supporting"}) {
        INFO(term);
        CHECK_THAT(notes, ContainsSubstring(term));
        CHECK_THAT(page, ContainsSubstring(term));
    }
    CHECK_THAT(notes, ContainsSubstring("docs/statistics.md"));
}

TEST_CASE("exit codes and words of a check of claims") {
    const Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2.1));
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
    CHECK(counts_text(claims_report(check_claims(table, sweep, {}), "quick", table)) == "1 refuted");
}

// The truth of every claim is at its margin: of a table none may hold, or fail, with a chance above 5% each. Measured
// over 4,000 tables of 5 rows with 3 seeds: any of four false "holds" 4.6%, "fails" 4.4%.
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
        std::vector<ClaimedLosses> rows = {{kBase, {}}};
        for (int i = 0; i < 4; ++i) rows.push_back({{fmt::format("tech{}", i), 1}, {}});
        for (ClaimedLosses& row : rows)
            for (int s = 0; s < 3; ++s) row.losses.push_back((row.row.recipe == "base" ? 2 : 3) + normal(random));
        bool any_holds = false, any_fails = false;
        for (const ClaimFinding& one : check_claims(table, sweep_with(rows), {})) {
            any_holds = any_holds || one.judged.finding.outcome == Outcome::holds;
            any_fails = any_fails || one.judged.finding.outcome == Outcome::fails;
        }
        holds += any_holds;
        fails += any_fails;
    }
    std::printf("seed %u: of %d tables any false holds %.4f, any false fails %.4f\n", seed, kTables,
                1.0 * holds / kTables, 1.0 * fails / kTables);
    CHECK(1.0 * holds / kTables < 0.08);  // 0.05 and three standard errors
    CHECK(1.0 * fails / kTables < 0.08);
    CHECK(holds + fails > 0);
}

TEST_CASE("a claim that a proxy judges by another metric than the paper's says so in its line") {
    Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    const Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2.004));
    CHECK_THAT(judged(claim, sweep).text, !ContainsSubstring("ubstitute metric"));
    claim.paper = claim.proxy;
    CHECK_THAT(judged(claim, sweep).text, !ContainsSubstring("ubstitute metric"));
    claim.paper.quantity = parse_quantity("suite:data_efficiency average", {});
    CHECK_THAT(judged(claim, sweep).text,
               ContainsSubstring("One is as the other. Substitute metric, for suite:data_efficiency average: "
                                 "task:validation loss: tech at 50% 2.004"));
    CHECK_THAT(judged(claim, sweep_with({{kBase, {2, 2.1}}, {kTechHalf, {2, 2.1}}})).text,
               ContainsSubstring("Substitute metric, for suite:data_efficiency average: no verdict below 3 seeds"));
    Results at_paper_scale = sweep;
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
        return check_claims(table_of(claims), sweep_with(quiet_rows(2, 2.5, 1.9, tech_half)), {})
            .front()
            .judged.finding.text;
    };
    CHECK_THAT(text(2.021), ContainsSubstring("adjusted p of refuting 1"));
    CHECK_THAT(text(2.019), ContainsSubstring("adjusted p of supporting 1"));
}

TEST_CASE("a claim's line says by which variance it is judged, and each row's own decides where they differ") {
    const Claim claim = a_claim(ClaimKind::better, kTech, kBase, 0);
    CHECK_THAT(judged(claim, sweep_with(quiet_rows(2, 2.5, 1.95, 2))).text,
               ContainsSubstring("; by the variance pooled over rows (no test of equal variances)"));
    // Two degrees of each of the claim's rows alone make the bound wider.
    CHECK_THAT(judged(claim, sweep_with(quiet_rows(2, 2.5, 1.984, 2))).text,
               ContainsSubstring("; the verdict rests on pooling alone: Holm-adjusted p 0.0") &&
                   ContainsSubstring(" by each row's own variance"));
    CHECK_THAT(judged(claim, sweep_with(quiet_rows(2, 2.5, 1.9, 2))).text, !ContainsSubstring("rests on pooling"));
    // The two rows of the claim spread by 0.1, the others by 0.001: pooled, a difference of 0.15 would hold.
    const auto around = [](double mean, double spread) {
        return std::vector<double>{mean - spread, mean + 0.1 * spread, mean + 0.9 * spread};
    };
    const CheckFinding own = judged(claim, sweep_with({{kBase, around(2, 0.1)},
                                                       {kBaseHalf, around(2.5, 0.001)},
                                                       {kTech, around(1.85, 0.1)},
                                                       {kTechHalf, around(2, 0.001)}}));
    CHECK_THAT(own.text, ContainsSubstring("; by each row's own variance (Welch; Brown-Forsythe p 0.") &&
                             ContainsSubstring(" over 4 rows)"));
    // Variances 0.0091 and 0.0091 over three seeds: 4 degrees, t(95%) 2.1318 times 0.077889 is 0.16604.
    CHECK(own.outcome == Outcome::unclear);
    CHECK(*own.lower == Approx(0.15 - 0.16604).epsilon(1e-3));
}
