// The rows and seeds that a claim is judged by.

#include "tests/reporting/claims/a_claim.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/reporting/attempts.h"

using namespace deft;
using namespace deft::reporting;

TEST_CASE("rows that do not count lend no variance") {
    std::vector<ClaimedLosses> rows = quiet_rows(2, 2.5, 1.9, 2);
    rows[1].losses = {1, 2.5, 4};
    Results sweep = sweep_with(rows);
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    CHECK(judged(claim, sweep).outcome == Outcome::unclear);
    for (Trial& trial : sweep.trials)
        if (trial.recipe == "base" && trial.axes_json == kHalfBudget) trial.last_point->step = 100;
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
}

TEST_CASE("what would settle a claim is of its stage alone, where there are stages") {
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2.01));
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    CHECK_THAT(judged(claim, sweep).text, !ContainsSubstring(" alone"));
    for (Trial& trial : sweep.trials) trial.stage = "finetune";
    CHECK_THAT(judged(claim, sweep).text, ContainsSubstring("about 4 device-hours or $16.00 of stage finetune alone"));
}

TEST_CASE("a seed that diverged is counted and never dropped, and a waiting seed is reported") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    Trial more = sweep.trials.back();
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
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    sweep.trials.back().last_point->seqlen = 32;
    const CheckFinding finding = judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02), sweep);
    CHECK(finding.outcome == Outcome::missing);
    CHECK_THAT(finding.text, ContainsSubstring("tech at 50% does not count as measured"));
}

TEST_CASE("seeds of a later stage are averaged within the seed that they nest in") {
    Results sweep = sweep_with({{kBase, {2, 2.01, 1.99}}, {kTechHalf, {1, 3, 1, 3.02, 1, 2.98}}});
    std::size_t nested = 0;
    for (Trial& trial : sweep.trials)
        if (trial.recipe == "tech") {
            trial.seeds = fmt::format("{}.{}", nested / 2 + 1, nested % 2 + 1);
            ++nested;
        }
    const CheckFinding finding = judged(a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.05), sweep);
    CHECK(finding.outcome == Outcome::holds);  // 2, 2.01 and 1.99, not six values from 1 to 3
}

TEST_CASE("rows of another stage lend no variance, and are compared with none of this one") {
    const Claim claim = a_claim(ClaimKind::no_worse, kTechHalf, kBase, 0.02);
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2.004));
    for (Trial& trial : sweep.trials) trial.stage = "pretrain";
    for (const Trial& loud : sweep_with({{kBase, {1, 2, 3}}, {kTechHalf, {0, 4, 8}}}).trials) {
        sweep.trials.push_back(loud);
        sweep.trials.back().stage = "finetune";
        sweep.trials.back().ordinal += 100;
    }
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
    for (Trial& trial : sweep.trials)
        if (trial.recipe == "tech" && trial.stage == "pretrain") trial.scores.clear();
    CHECK(judged(claim, sweep).outcome == Outcome::missing);
    CHECK_THAT(judged(claim, sweep).text,
               ContainsSubstring("tech at 50% has it in stage finetune, and base at 100% in stage pretrain"));
}

TEST_CASE("A row that is stale has no value to judge a claim by, and none of its spread is pooled") {
    const Results fresh = sweep_with(quiet_rows(1, 1.1, 1, 1.1));
    const Claim claim = a_claim(ClaimKind::no_worse, kTech, kBase, 0.05);
    CHECK(judged(claim, fresh).outcome == Outcome::holds);
    for (const char* recipe : {"tech", "base"}) {
        Results sweep = fresh;
        for (Trial& trial : sweep.trials)
            if (trial.recipe == recipe && trial.axes_json == kFullBudget && trial.seed == 2)
                trial.stale = "data: the training data has changed";
        const CheckFinding finding = judged(claim, sweep);
        CHECK(finding.outcome == Outcome::missing);
        CHECK_THAT(finding.text, ContainsSubstring("at 100% is stale by data: the training data has changed"));
    }
    // A stale score is of its own quantity alone.
    for (const char* measure : {"loss", "acc"}) {
        Results sweep = fresh;
        for (Trial& trial : sweep.trials) {
            trial.scores.push_back(a_score("copa", "acc", 0.5));
            for (Score& score : trial.scores)
                if (score.measure == measure) score.stale = "eval: evaluation version 1, now 2";
        }
        CHECK((judged(claim, sweep).outcome == Outcome::missing) == (std::string(measure) == "loss"));
    }
    // Rows that no claim is of lend their spread over seeds only while they are not stale.
    Results wild = sweep_with({{kBase, {0.99, 1, 1.01}}, {kTech, {0.99, 1, 1.01}}, {kTechHalf, {0, 5, 10}}});
    const double wide = judged(claim, wild).upper.value();
    for (Trial& trial : wild.trials)
        if (trial.axes_json == kHalfBudget) trial.stale = "code: result epoch 3, now 4";
    CHECK(judged(claim, wild).upper.value() < wide);
}

TEST_CASE("a claim on a task whose baseline guesses is not judged") {
    Results sweep = sweep_with(quiet_rows(2, 2.5, 1.9, 2));
    const auto score = [&](double of_base) {
        for (Trial& trial : sweep.trials) {
            const double above = trial.recipe == "base" ? of_base : 0.7;
            Score row;
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
    CHECK_THAT(judged(claim, sweep).text,
               ContainsSubstring("task:piqa acc of base[budget_fraction=1.0] is not significantly above chance"));
    score(0.6);
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
}

TEST_CASE("A verdict notes that the best learning rate of one of its rows is at the end of its list") {
    Results sweep = sweep_with({{kBase, {3.00, 3.01, 2.99, 3.00}}, {kTech, {2.50, 2.51, 2.49, 2.50}}});
    const PublishedTable table = table_of({a_claim(ClaimKind::no_worse, kTech, kBase, 0.02)});
    const auto text = [&] { return check_claims(table, sweep, {}).front().judged.finding.text; };
    CHECK(text().find("learning rate") == std::string::npos);
    const auto search = [&](const char* recipe, const char* best, const char* other) {
        for (const auto& [rate, loss] : {std::pair{best, 2.0}, {other, 3.0}})
            sweep.searched.push_back(a_finished_trial(
                recipe, fmt::format(R"({{"train.budget_fraction":1.0,"train.learning_rate":{}}})", rate).c_str(), 7,
                loss));
    };
    search("another", "0.001", "0.002");
    CHECK(text().find("learning rate") == std::string::npos);
    search("tech", "0.002", "0.001");
    CHECK_THAT(text(),
               ContainsSubstring(". The best learning rate is at the end of its list for tech[budget_fraction=1.0]"));
    // The best of a column has all others as rivals.
    PublishedTable best = table_of({a_claim(ClaimKind::best_in_column, kBase, std::nullopt, 0.02)});
    best.rows = {best.rows[0], best.rows[2]};
    CHECK_THAT(check_claims(best, sweep, {}).front().judged.finding.text,
               ContainsSubstring("at the end of its list for tech[budget_fraction=1.0]"));
}

TEST_CASE("a claim on time is unclear where contention affected its rows differently") {
    const Claim claim = a_claim_on_time(0.9);
    const std::vector<ClaimedLosses> rows = rows_of_half_the_time();
    const auto with_share = [&](double of_base) {
        Results sweep = sweep_with(rows);
        for (Trial& trial : sweep.trials) {
            results_db::AttemptRow attempt = an_attempt_on({"cpu", 1, 1, 1}, {10, 0, 0, 0, 0});
            attempt.cpu_seconds = trial.recipe == "base" ? 10 * of_base : 9.9;
            add_attempt(trial, attempt);
        }
        return judged(claim, sweep);
    };
    CHECK(with_share(0.95).outcome == Outcome::holds);
    CHECK(with_share(0.5).outcome == Outcome::unclear);
    CHECK_THAT(with_share(0.5).text,
               ContainsSubstring("equal CPU contention; share of their time that computed: "
                                 "tech[budget_fraction=0.5] for 99%, base[budget_fraction=1.0] for 50%"));
}

TEST_CASE("a claim on dollars is judged by the rule of the seconds that they follow from") {
    Claim claim = a_claim_on_time(0.9);
    claim.proxy.quantity = parse_quantity("cost usd", {});
    claim.proxy.unit = "USD";
    const std::vector<ClaimedLosses> rows = rows_of_half_the_time();
    const auto outcome = [&](const char* processor, double of_base) {
        Results sweep = sweep_with(rows);
        for (Trial& trial : sweep.trials) {
            const bool is_base = trial.recipe == "base";
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

TEST_CASE("a claim on time is missing where its rows were trained on slots of several shapes") {
    const Claim claim = a_claim_on_time(0.9);
    const std::vector<ClaimedLosses> rows = rows_of_half_the_time();
    Results sweep = sweep_with(rows);
    for (Trial& trial : sweep.trials) add_attempt(trial, an_attempt_on({"cpu", 2, 1, 1}, {10, 0, 0, 0, 0}));
    CHECK(judged(claim, sweep).outcome == Outcome::holds);
    const auto on_four = [](Results of, const std::string& recipe, std::int64_t seed) {
        for (Trial& trial : of.trials)
            if (trial.recipe == recipe && trial.seed == seed) trial.attempt_rows[0].shape.devices = 4;
        return of;
    };
    CheckFinding finding = judged(claim, on_four(sweep, kTechHalf.recipe, 2));
    CHECK(finding.outcome == Outcome::missing);
    CHECK_THAT(finding.text, ContainsSubstring("one worker shape") && ContainsSubstring("4 threads of Example CPU"));
    // Every trial of one row went on elsewhere: it has no time at all.
    Results moved = sweep;
    for (Trial& trial : moved.trials)
        if (trial.recipe == kBase.recipe) add_attempt(trial, an_attempt_on({"cpu", 8, 1, 1}, {10, 0, 0, 0, 0}));
    finding = judged(claim, moved);
    CHECK(finding.outcome == Outcome::missing);
    CHECK_THAT(finding.text, ContainsSubstring("one worker shape") && ContainsSubstring("8 threads of Example CPU"));
}

TEST_CASE("claims of a table that is of one stage are judged by the rows of that stage") {
    const Results one = sweep_with({{kBase, {3.00, 3.01, 2.99, 3.00}}, {kTech, {2.50, 2.51, 2.49, 2.50}}});
    const Results other = sweep_with({{kBase, {2.00, 2.01, 1.99, 2.00}}, {kTech, {2.50, 2.51, 2.49, 2.50}}});
    Results sweep = one;
    for (Trial& trial : sweep.trials) trial.stage = "pretrain";
    for (Trial trial : other.trials) {
        trial.stage = "finetune";
        trial.config_hash += "f";
        sweep.trials.push_back(trial);
    }
    PublishedTable table = table_of({a_claim(ClaimKind::no_worse, kTech, kBase, 0.02)});
    const auto outcome = [&](const Results& of) { return check_claims(table, of, {}).front().judged.finding.outcome; };
    table.stage = "finetune";
    CHECK(outcome(sweep) == Outcome::fails);
    table.stage = "pretrain";
    CHECK(outcome(sweep) == Outcome::holds);
    CHECK(outcome(one) == Outcome::holds);  // without stages all rows are its own
}
