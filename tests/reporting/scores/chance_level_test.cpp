#include "reporting/analysis/scores/chance_level.h"

#include <cmath>
#include <random>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/views/render/html.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Quantity quantity(const char* text) {
    return parse_quantity(text, Place{});
}

// A score over 400 documents; a guess would answer half of them.
Score an_accuracy(double value) {
    Score row;
    row.task = "piqa";
    row.measure = "acc";
    row.better = "higher";
    row.value = value;
    row.n = 400;
    row.chance = 0.5;
    row.standard_error = 0.025;
    return row;
}

Results a_sweep_with_accuracies(const std::vector<double>& baseline, const std::vector<double>& technique) {
    std::vector<Trial> trials;
    for (const auto* values : {&baseline, &technique})
        for (std::size_t seed = 0; seed < values->size(); ++seed) {
            trials.push_back(a_finished_trial(values == &baseline ? "base" : "tech", "{}", static_cast<int>(seed) + 1,
                                              3 + 0.01 * static_cast<double>(seed)));
            trials.back().scores.push_back(an_accuracy((*values)[seed]));
        }
    return a_sweep_of(std::move(trials));
}

}  // namespace

// Computed by hand: without a spread over seeds the test set's error alone counts, 0.025 of 400 documents: 1.645 of it
// are 0.0411.
TEST_CASE("a score is above chance where seeds and documents together say so") {
    using Scores = std::vector<GuessedScore>;
    CHECK(is_at_chance(Scores{{0.54, 0.5, 0.025}}));
    CHECK(!is_at_chance(Scores{{0.542, 0.5, 0.025}}));
    // Three equal seeds add nothing: they answer the same documents.
    CHECK(is_at_chance(Scores{{0.54, 0.5, 0.025}, {0.54, 0.5, 0.025}, {0.54, 0.5, 0.025}}));
    // With known documents the seeds' spread counts alone: t(95%, 2) = 2.92 times 0.01 / sqrt(3) are 0.01686.
    CHECK(is_at_chance(Scores{{0.506, 0.5, 0}, {0.516, 0.5, 0}, {0.526, 0.5, 0}}));
    CHECK(!is_at_chance(Scores{{0.507, 0.5, 0}, {0.517, 0.5, 0}, {0.527, 0.5, 0}}));
    CHECK(is_at_chance(Scores{{0, 0, 0}}));
    CHECK(!is_at_chance(Scores{{0.01, 0, 0}}));
    CHECK(is_at_chance(Scores{{NAN, 0.5, 0.025}}));
    CHECK(!is_at_chance(Scores{}));
}

// Computed by hand: squared errors 0.01^2 / 3 of the seeds and 0.02^2 of the documents have 2 (0.0333 + 0.4)^2 /
// 0.0333^2 = 338 degrees, t = 1.649, times 0.02082 are 0.03434.
TEST_CASE("the errors of seeds and documents add as their squares") {
    const auto scores = [](double mean) {
        return std::vector<GuessedScore>{{mean - 0.01, 0.5, 0.02}, {mean, 0.5, 0.02}, {mean + 0.01, 0.5, 0.02}};
    };
    CHECK(is_at_chance(scores(0.5342)));
    CHECK(!is_at_chance(scores(0.5345)));
}

TEST_CASE("models that guess are called better than chance in one of twenty sweeps") {
    const auto world = std::random_device{}();
    std::mt19937_64 random(world);
    std::binomial_distribution<int> answers(400, 0.5);
    std::normal_distribution<double> of_seed(0, 0.01);
    constexpr int kSweeps = 4000;
    int above = 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        const double documents = answers(random) / 400.0;
        std::vector<GuessedScore> scores;
        for (int seed = 0; seed < 3; ++seed) scores.push_back({documents + of_seed(random), 0.5, 0.025});
        above += !is_at_chance(scores);
    }
    CAPTURE(world, above);
    CHECK(above > 0.035 * kSweeps);
    CHECK(above < 0.06 * kSweeps);
}

TEST_CASE("a suite's average is held against the average chance of its tasks") {
    Trial trial = a_finished_trial("base", "{}", 1, 3);
    Score lambada = an_accuracy(0.3);
    lambada.task = "lambada";
    lambada.chance = NAN;
    lambada.standard_error = 0.04;
    Score piqa = an_accuracy(0.6);
    piqa.measure = "acc_norm";
    trial.scores = {piqa, lambada};
    const auto found = guessed(quantity("suite:data_efficiency average"), trial);
    REQUIRE(found);
    CHECK(found->value == Approx(45));
    CHECK(found->chance == Approx(25));
    CHECK(found->item_error == Approx(std::hypot(2.5, 4) / 2));
    trial.scores = {lambada};
    CHECK(!guessed(quantity("suite:data_efficiency average"), trial));
    CHECK(!guessed(quantity("task:lambada acc"), trial));
    CHECK(!guessed(quantity("train hours"), trial));
}

TEST_CASE("a column whose baseline guesses is marked, and none of its rows is the best") {
    const auto sweep = a_sweep_with_accuracies({0.51, 0.5, 0.52}, {0.61, 0.6, 0.62});
    const Table table = comparison_table(sweep, {"base", "smoke", "", ""});
    const std::size_t accuracy = column(table, "piqa\nacc ↑\n(chance 0.5)");
    CHECK(table.columns[accuracy].caveat == "at chance");
    CHECK(!table.rows[1][accuracy].is_best);
    CHECK_THAT(all_notes(table),
               ContainsSubstring("At chance: the baseline's score is not significantly above guessing") &&
                   ContainsSubstring("piqa acc ↑ (chance 0.5). Nothing"));
    CHECK_THAT(render_terminal(table, 0), ContainsSubstring("at chance"));
    CHECK_THAT(render_markdown(table), ContainsSubstring("(chance 0.5) at chance"));
    CHECK_THAT(render_latex(table), ContainsSubstring("at chance"));
    CHECK_THAT(render_html(table), ContainsSubstring("<small>at chance</small>"));
    CHECK_THAT(render_json(table), ContainsSubstring("\"caveat\": \"at chance\""));
    CHECK_THAT(render_csv(table), ContainsSubstring("piqa acc (chance 0.5),"));  // a name that results do not change
}

TEST_CASE("rows that may be the best of a column are bold in every format") {
    const auto sweep = a_sweep_with_accuracies({0.71, 0.7, 0.72}, {0.81, 0.8, 0.82});
    const Table table = comparison_table(sweep, {"base", "smoke", "", ""});
    const std::size_t accuracy = column(table, "piqa\nacc ↑\n(chance 0.5)"),
                      loss = column(table, "validation\nloss ↓\n(nats/token)");
    CHECK(table.columns[accuracy].caveat.empty());
    CHECK(!table.rows[0][accuracy].is_best);
    CHECK(table.rows[1][accuracy].is_best);
    CHECK(table.rows[0][loss].is_best);
    CHECK(table.rows[1][loss].is_best);
    CHECK(!table.rows[1][column(table, "steps")].is_best);
    CHECK_THAT(all_notes(table), ContainsSubstring("Bold (* in plain text): rows that seeds cannot distinguish"));
    CHECK_THAT(render_terminal(table, 0),
               ContainsSubstring("0.810 ± 0.010 *\n") && !ContainsSubstring("0.710 ± 0.010 *"));
    CHECK_THAT(render_markdown(table), ContainsSubstring("**0.810 ± 0.010**") && !ContainsSubstring("**0.710"));
    CHECK_THAT(render_latex(table),
               ContainsSubstring("\\textbf{0.810 $\\pm$ 0.010}") && !ContainsSubstring("\\textbf{0.710"));
    CHECK_THAT(render_html(table), ContainsSubstring("<td class=\"best\">") && ContainsSubstring(".810"));
    CHECK_THAT(render_json(table), ContainsSubstring("\"best\": true"));
    CHECK_THAT(render_csv(table), ContainsSubstring(",best\r\n") &&
                                      ContainsSubstring("validation loss (nats/token); piqa acc (chance 0.5)\r\n"));
}

TEST_CASE("a row that does not count is neither the best nor compared with") {
    auto sweep = a_sweep_with_accuracies({0.71, 0.7, 0.72}, {0.81, 0.8, 0.82});
    sweep.trials.back().last_point->step = 100;
    const Table table = comparison_table(sweep, {"base", "smoke", "", ""});
    const std::size_t accuracy = column(table, "piqa\nacc ↑\n(chance 0.5)");
    CHECK(table.rows[1][accuracy].text == "0.810 ± 0.010");
    CHECK_FALSE(table.rows[1][accuracy].flag.empty());
    CHECK(!table.rows[0][accuracy].is_best);
    CHECK(!table.rows[1][accuracy].is_best);
}

TEST_CASE("a row with a diverged seed is never the best, whatever its other seeds reach") {
    auto sweep = a_sweep_with_accuracies({0.71, 0.7, 0.72}, {0.81, 0.8, 0.82});
    sweep.trials.push_back(sweep.trials.back());
    sweep.trials.back().seed = 4;
    sweep.trials.back().config_hash = "of seed 4";
    sweep.trials.back().state = "failed";
    const auto is_best = [&] {
        const Table table = comparison_table(sweep, {"base", "smoke", "", ""});
        return table.rows[1][column(table, "piqa\nacc ↑\n(chance 0.5)")].is_best;
    };
    CHECK(is_best());
    sweep.trials.back().fail_class = "nan";
    CHECK_FALSE(is_best());
}

TEST_CASE("a baseline that does not count says nothing of a column's chance") {
    auto sweep = a_sweep_with_accuracies({0.51, 0.5, 0.52}, {0.61, 0.6, 0.62});
    for (Trial& trial : sweep.trials)
        if (trial.recipe == "base") trial.last_point->step = 100;
    const Table table = comparison_table(sweep, {"base", "smoke", "", ""});
    CHECK(table.columns[column(table, "piqa\nacc ↑\n(chance 0.5)")].caveat.empty());
}
