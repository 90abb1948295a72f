// Scores of two recipes, with a verdict on each.

#include "reporting/analysis/compare/score_differences.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Results sweep_of(const std::vector<std::pair<const char*, std::vector<double>>>& recipes) {
    std::vector<Trial> trials;
    for (const auto& [name, losses] : recipes)
        for (std::size_t i = 0; i < losses.size(); ++i)
            trials.push_back(a_finished_trial(name, "{}", static_cast<std::int64_t>(i) + 1, losses[i]));
    return a_sweep_of(trials);
}

ScoreDifference loss_of(const std::vector<ScoreDifference>& scores) {
    REQUIRE(scores.size() == 1);
    return scores.front();
}

// The first row beside the second.
std::vector<ScoreDifference> first_two(const Results& sweep) {
    const std::vector<Row> rows = rows_of(sweep);
    return score_differences({&sweep, &rows, &rows[0]}, {&sweep, &rows, &rows[1]});
}

std::vector<ScoreDifference> judged(std::vector<ScoreDifference> scores) {
    std::vector<ScoreDifference*> family;
    for (ScoreDifference& one : scores) family.push_back(&one);
    judge(family);
    return scores;
}

}  // namespace

// Computed by hand: variances 1 and 1, of each row 1 over 2 degrees, pooled 1 over 4 and drawn towards it 1; degrees
// min(6 + 4, 4) = 4; error sqrt(2/3); t(97.5%, 4) = 2.776445.
TEST_CASE("rows of one sweep are compared by the variance pooled over its rows") {
    const ScoreDifference loss = loss_of(first_two(sweep_of({{"a", {1, 2, 3}}, {"b", {4, 5, 6}}})));
    CHECK(loss.title == "validation loss ↓ (nats/token)");
    CHECK(loss.method == ContrastMethod::pooled);
    CHECK(loss.improves == Improves::downwards);
    CHECK(loss.difference == 3);
    REQUIRE(loss.interval);
    CHECK(loss.interval->low == Approx(3 - 2.776445 * std::sqrt(2.0 / 3)));
    CHECK(loss.interval->high == Approx(3 + 2.776445 * std::sqrt(2.0 / 3)));
    CHECK(*loss.p_value == Approx(0.021311).epsilon(1e-3));  // t = 3.674235 of 4 degrees
    // A third row of the sweep moves the variance: 1, 1 and 4 over 6 degrees are 2; of each row (6 * 2 + 2 * 1) / 8.
    const ScoreDifference wider = loss_of(first_two(sweep_of({{"a", {1, 2, 3}}, {"b", {4, 5, 6}}, {"c", {1, 3, 5}}})));
    CHECK(wider.interval->high == Approx(3 + 2.446912 * std::sqrt(2 * 1.75 / 3)));  // t(97.5%, 6)
    // A row of another stage does not.
    Results staged = sweep_of({{"a", {1, 2, 3}}, {"b", {4, 5, 6}}, {"c", {1, 3, 5}}});
    for (Trial& trial : staged.trials)
        if (trial.recipe == "c") trial.stage = "finetune";
    CHECK(loss_of(first_two(staged)).interval->high == Approx(loss.interval->high));
    // Nor does one that does not count.
    Results short_run = sweep_of({{"a", {1, 2, 3}}, {"b", {4, 5, 6}}, {"c", {1, 3, 5}}});
    for (Trial& trial : short_run.trials)
        if (trial.recipe == "c") trial.last_point->step = 100;
    CHECK(loss_of(first_two(short_run)).interval->high == Approx(loss.interval->high));
}

TEST_CASE("rows of two sweeps are compared by their own spreads") {
    const Results one = sweep_of({{"a", {1, 2, 3}}, {"c", {1, 30, 50}}});
    Results other = sweep_of({{"b", {4, 5, 6}}});
    other.name = "other";
    const std::vector<Row> rows = rows_of(one), others = rows_of(other);
    const ScoreDifference loss = loss_of(score_differences({&one, &rows, &rows[0]}, {&other, &others, &others[0]}));
    CHECK(loss.method == ContrastMethod::welch);
    CHECK(loss.interval->low == Approx(3 - 2.776445 * std::sqrt(2.0 / 3)));
    // Two copies of one sweep are one sweep.
    Results copy = one;
    const std::vector<Row> copied = rows_of(copy);
    CHECK_FALSE(loss.equal_variances);
    const ScoreDifference of_copy = loss_of(score_differences({&one, &rows, &rows[0]}, {&copy, &copied, &copied[1]}));
    REQUIRE(of_copy.equal_variances);
    CHECK(of_copy.equal_variances->recipes == 2);
}

TEST_CASE("verdicts follow the measure's direction, and are corrected for their number") {
    Results sweep = sweep_of({{"a", {1, 2, 3}}, {"b", {4, 5, 6}}});
    CHECK(judged(first_two(sweep))[0].verdict == ScoreVerdict::worse);
    CHECK(judged(first_two(sweep_of({{"a", {4, 5, 6}}, {"b", {1, 2, 3}}})))[0].verdict == ScoreVerdict::better);
    CHECK(judged(first_two(sweep_of({{"a", {1, 2, 3}}, {"b", {2, 3, 4}}})))[0].verdict == ScoreVerdict::unclear);
    // For three scores that differ alike, p = 0.0213 becomes 0.064 over the family.
    for (Trial& trial : sweep.trials)
        for (const char* task : {"one", "two"})
            trial.scores.push_back(a_score(task, "acc", trial.scores.front().value));
    const std::vector<ScoreDifference> three = judged(first_two(sweep));
    REQUIRE(three.size() == 3);
    for (const ScoreDifference& score : three) {
        CHECK(score.adjusted_p == Approx(3 * 0.021311).epsilon(1e-3));
        CHECK(score.verdict == ScoreVerdict::unclear);
    }
    CHECK(std::string(name(ScoreVerdict::none)) == "-");
    CHECK(std::string(name(ScoreVerdict::better)) == "better");
}

TEST_CASE("a difference that cannot be resolved has no verdict") {
    const auto why = [](const Results& sweep) {
        const ScoreDifference loss = judged(first_two(sweep)).front();
        CHECK(loss.verdict == ScoreVerdict::none);
        CHECK_FALSE(loss.interval);
        return loss.why;
    };
    const std::vector<double> three = {1, 2, 3};
    CHECK_THAT(why(sweep_of({{"a", {1, 2}}, {"b", three}})), ContainsSubstring("a has 2 of the 3 seeds"));
    CHECK_THAT(why(sweep_of({{"a", three}, {"b", {4, 5}}})), ContainsSubstring("b has 2 of the 3 seeds"));
    CHECK_THAT(why(sweep_of({{"a", three}, {"b", {4, NAN, 5}}})),
               ContainsSubstring("b has a score that is not finite"));
    CHECK_THAT(why(sweep_of({{"a", {1, 1, 1}}, {"b", {2, 2, 2}}})), ContainsSubstring("all seeds have equal scores"));
    const auto changed = [&](auto change) {
        Results sweep = sweep_of({{"a", three}, {"b", {4, 5, 6}}});
        change(sweep.trials[4]);
        return sweep;
    };
    CHECK_THAT(why(changed([](Trial& trial) { trial.stale = "code: result epoch 3, now 4"; })),
               ContainsSubstring("b is stale by code"));
    CHECK_THAT(why(changed([](Trial& trial) { trial.scores[0].stale = "eval: another task"; })),
               ContainsSubstring("b is stale by eval"));
    CHECK_THAT(why(changed([](Trial& trial) { trial.last_point->step = 199; })),
               ContainsSubstring("b does not count as measured"));
    CHECK_THAT(why(changed([](Trial& trial) { trial.scores[0].n = 99; })), ContainsSubstring("not scored on the same"));
    CHECK_THAT(why(changed([](Trial& trial) { trial.scores[0].score_key = "k"; })),
               ContainsSubstring("not scored on the same"));
    CHECK_THAT(why(changed([](Trial& trial) { trial.dataset_sha256 = "other"; })),
               ContainsSubstring("not scored on the same"));
    CHECK_THAT(why(changed([](Trial& trial) { trial.scores.clear(); })),
               ContainsSubstring("2 of 3 finished trials of b are scored"));
    CHECK_THAT(why(changed([](Trial& trial) {
                   trial.state = "failed";
                   trial.fail_class = "nan";
               })),
               ContainsSubstring("1 trial of b diverged"));
    Results shared = sweep_of({{"a", three}, {"b", {4, 5, 6}}});
    shared.trials[5].config_hash = shared.trials[0].config_hash;
    CHECK_THAT(why(shared), ContainsSubstring("share trainings"));
    Results unscored = sweep_of({{"a", three}, {"b", {4, 5, 6}}});
    for (std::size_t i = 3; i < 6; ++i) unscored.trials[i].scores.clear();
    CHECK_THAT(why(unscored), ContainsSubstring("b is not scored by it"));
    Results unfinished = sweep_of({{"a", three}, {"b", {4, 5, 6}}});
    for (std::size_t i = 3; i < 6; ++i) unfinished.trials[i].state = "failed";
    CHECK_THAT(why(unfinished), ContainsSubstring("no seed of b has finished"));
}

TEST_CASE("two guessing models are not compared, but a guessing and a skilled one are") {
    const auto at = [](double b) {
        Results sweep = sweep_of({{"a", {1, 2, 3}}, {"b", {1, 2, 3}}});
        for (Trial& trial : sweep.trials) {
            Score row = a_score("quiz", "acc", (trial.recipe == "b" ? b : 0.25) + 0.001 * double(trial.seed));
            row.chance = 0.25;
            row.standard_error = 0.04;
            trial.scores = {row};
        }
        return sweep;
    };
    CHECK_THAT(judged(first_two(at(0.26)))[0].why, ContainsSubstring("chance"));
    CHECK(judged(first_two(at(0.75)))[0].verdict == ScoreVerdict::better);
}
