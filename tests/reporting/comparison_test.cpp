#include "reporting/analysis/comparison/comparison.h"

#include <limits>

#include "reporting/views/text/status.h"
#include "tests/refusal.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Trial a_trial(const char* recipe, const char* axes, std::int64_t ordinal, std::int64_t seed, const char* state) {
    Trial trial;
    trial.recipe = recipe;
    trial.axes_json = axes;
    trial.ordinal = ordinal;
    trial.seed = seed;
    trial.config_hash = "hash" + std::to_string(ordinal) + "0123456789";
    set_configuration(trial, R"({"train":{"steps":10},"seed":1})");
    trial.state = state;
    return trial;
}

Trial measured(Trial trial, std::int64_t tokens, std::int64_t wall_ms, double loss, double accuracy) {
    journal::TrainPoint point;
    point.step = std::max<std::int64_t>(tokens / 1000, 200);
    point.input_tokens = tokens;
    point.unique_tokens = tokens / 2;
    point.layer_tokens = tokens;
    point.flops = static_cast<double>(tokens) * 1e7;
    point.wall_ms = wall_ms;
    point.loss = loss;
    trial.last_point = point;
    trial.attempts = 1;
    trial.usd = static_cast<double>(wall_ms) / 3.6e6 * 0.05;
    results_db::AttemptRow attempt;
    attempt.counts = true;
    attempt.price = results_db::Price{"cpu4", 1714521600000, 0.05, "a list"};
    trial.attempt_rows = {attempt};
    trial.scores = {{"questions", "acc", "", "higher", "test", accuracy, 100, 0.25},
                    {"validation", "loss", "nats/token", "lower", "valid", loss, 20, kNaN}};
    trial.code.git_sha = "0123456789abcdef";
    trial.host.hostname = "node1";
    trial.host.cpu_model = "Example CPU";
    trial.host.cores = 4;
    trial.dataset_name = "corpus";
    trial.dataset_sha256 = "d5d5d5d5d5d5d5d5";
    return trial;
}

// Baseline at half and full budget, a technique with a failed seed, another not yet run.
Results a_sweep() {
    Results sweep;
    sweep.name = "quick";
    sweep.trials = {measured(a_trial("baseline", kHalfBudget, 0, 1, "ok"), 300000, 15000, 3.60, 0.30),
                    measured(a_trial("baseline", kHalfBudget, 1, 2, "ok"), 300000, 17000, 3.70, 0.32),
                    measured(a_trial("baseline", kFullBudget, 2, 1, "ok"), 600000, 30000, 3.40, 0.40),
                    measured(a_trial("baseline", kFullBudget, 3, 2, "ok"), 600000, 34000, 3.44, 0.42),
                    measured(a_trial("ltd", kHalfBudget, 4, 1, "ok"), 300000, 12000, 3.50, 0.38),
                    a_trial("ltd", kHalfBudget, 5, 2, "failed"),
                    a_trial("cl", kHalfBudget, 6, 1, "pending"),
                    a_trial("cl", kHalfBudget, 7, 2, "pending")};
    sweep.trials[5].fail_class = "nan";
    sweep.trials[5].error = "loss is NaN\nat step 3";
    sweep.trials[5].attempts = 2;
    return sweep;
}

SweepAbout about() {
    return {"baseline", "smoke", "A title", "deft run q.toml"};
}

}  // namespace

TEST_CASE("a comparison by hand") {
    const Table table = comparison_table(a_sweep(), about());
    CHECK(table.caption == "Sweep quick: A title");
    CHECK(table.key_columns == 2);
    REQUIRE(table.rows.size() == 4);
    const auto cell = [&](std::size_t row, const char* title) { return table.rows[row][column(table, title)].text; };
    CHECK(cell(0, "recipe") == "baseline");
    CHECK(cell(0, "budget") == "50%");
    CHECK(cell(1, "budget") == "100%");
    CHECK(cell(1, "seeds") == "2");
    CHECK(cell(2, "seeds") == "1 of 2");
    CHECK(cell(3, "seeds") == "0 of 2");
    CHECK(cell(1, "steps") == "600");
    CHECK(cell(1, "input\ntokens") == "600k 1.00x");
    CHECK(cell(0, "input\ntokens") == "300k 0.50x");
    CHECK(cell(0, "unique\ntokens") == "150k 0.50x");
    CHECK(cell(2, "consumed\ntokens") == "300k 0.50x");
    CHECK(cell(1, "FLOPs") == "6.00T 1.00x");
    CHECK(cell(1, "train\ntime") == "32.0s 1.00x");  // (30 + 34) / 2
    CHECK(cell(0, "train\ntime") == "16.0s 0.50x");  // (15 + 17) / 2
    CHECK(cell(2, "train\ntime") == "12.0s 0.38x");  // 12 / 32 = 0.375
    CHECK(cell(2, "tokens\nper s") == "25.0k");      // 300000 / 12
    CHECK(cell(1, "cost") == "$0.00044 1.00x");      // 32 s at 0.05 an hour
    CHECK(cell(1, "validation\nloss ↓\n(nats/token)") == "3.420 ± 0.028");
    CHECK(cell(0, "validation\nloss ↓\n(nats/token)") == "3.650 ± 0.071");
    CHECK(cell(2, "validation\nloss ↓\n(nats/token)") == "3.500");
    CHECK(cell(0, "questions\nacc ↑\n(chance 0.25)") == "0.310 ± 0.014");
    for (const char* title : {"steps", "input\ntokens", "FLOPs", "cost", "validation\nloss ↓\n(nats/token)"})
        CHECK(cell(3, title) == "-");

    const std::string notes = all_notes(table);
    CHECK_THAT(notes, ContainsSubstring("Seeds: 0 to 2 a row. No verdict: a verdict needs three seeds."));
    CHECK_THAT(notes, ContainsSubstring("1.00x: as much as recipe baseline at 100% of the budget."));
    CHECK_THAT(notes, ContainsSubstring("± their sample standard deviation"));
    CHECK_THAT(notes,
               ContainsSubstring("Missing: ltd[budget_fraction=0.5]/2 (failed, nan); cl[budget_fraction=0.5]/1 "
                                 "(pending); cl[budget_fraction=0.5]/2 (pending).\nTo fill them: deft run q.toml\n"));
    CHECK_THAT(notes, ContainsSubstring("Cost: $0.05 an hour of cpu4, price of 2024-05-01, a list."));
    CHECK_THAT(notes,
               ContainsSubstring("Code: commit 0123456789ab.\nHost: Example CPU (4 cores).\nData: corpus (sha256 "
                                 "d5d5d5d5d5d5).\n"));
    CHECK_THAT(notes,
               ContainsSubstring("Scale: smoke, up to 600k input tokens. Results at so small a scale say nothing"));
    CHECK_THAT(notes, !ContainsSubstring("Warning") && !ContainsSubstring("side by side"));
    // The same input gives the same table.
    CHECK(render_markdown(comparison_table(a_sweep(), about())) == render_markdown(table));
}

TEST_CASE("a comparison as it is printed") {
    Results sweep;
    sweep.name = "tiny";
    sweep.trials = {measured(a_trial("base", "{}", 0, 1, "ok"), 1000, 1000, 3.5, 0.5)};
    sweep.trials[0].scores.resize(1);
    CHECK(render_terminal(comparison_table(sweep, {}), 80) ==
          "Sweep tiny\n"
          "\n"
          "                            input     unique     consumed\n"
          "recipe  seeds  steps       tokens     tokens       tokens\n"
          "─────────────────────────────────────────────────────────\n"
          "base        1    200  1.00k 1.00x  500 1.00x  1.00k 1.00x\n"
          "\n"
          "                           train  tokens\n"
          "recipe        FLOPs         time   per s             cost\n"
          "─────────────────────────────────────────────────────────\n"
          "base    10.0G 1.00x  1.00s 1.00x   1.00k  $0.000014 1.00x\n"
          "\n"
          "            questions\n"
          "                acc ↑\n"
          "recipe  (chance 0.25)\n"
          "─────────────────────\n"
          "base            0.500\n"
          "\n"
          "Seeds: 1 a row. No verdict: a verdict needs three seeds.\n"
          "Values: means over finished seeds, ± their sample standard deviation. 1.00x: as\n"
          "  much as recipe base.\n"
          "Scale: as written, up to 1.00k input tokens. Results at so small a scale say\n"
          "  nothing by themselves about the models of the papers.\n"
          "Measured: at least 200 steps, full length unknown for some trials; unigram\n"
          "  entropy unknown.\n"
          "Cost: $0.05 an hour of cpu4, price of 2024-05-01, a list.\n"
          "Code: commit 0123456789ab.\n"
          "Host: Example CPU (4 cores).\n"
          "Data: corpus (sha256 d5d5d5d5d5d5).\n");
}

TEST_CASE("scores come in order of weight, under short titles") {
    Results sweep;
    sweep.name = "s";
    sweep.trials = {measured(a_trial("base", "{}", 0, 1, "ok"), 1000, 1000, 3, 0.5)};
    sweep.trials[0].scores = {{"embedded_last_words", "acc", "", "higher", "test", 0.004, 500, kNaN},
                              {"embedded_questions", "gold_bits_per_byte", "bits/byte", "lower", "test", 2, 500, kNaN},
                              {"validation", "loss", "nats/token", "lower", "valid", 3, 20, kNaN},
                              {"validation", "bits_per_byte", "bits/byte", "lower", "valid", 1.5, 20, kNaN}};
    const auto titles = [&] {
        std::vector<std::string> out;
        const Table table = comparison_table(sweep, {});
        for (std::size_t i = column(table, "cost") + 1; i < table.columns.size(); ++i)
            out.push_back(table.columns[i].title);
        return out;
    };
    CHECK(titles() == std::vector<std::string>{"validation\nbits/byte ↓", "validation\nloss ↓\n(nats/token)",
                                               "last words\nacc ↑", "questions\ngold bits/byte ↓"});
    // A task of the short name keeps it for itself.
    sweep.trials[0].scores.push_back({"last_words", "acc", "", "higher", "test", 0.5, 500, kNaN});
    CHECK(titles()[2] == "embedded last words\nacc ↑");
    CHECK(titles()[3] == "last words\nacc ↑");
}

TEST_CASE("a long list of missing trials is cut") {
    Results sweep = a_sweep();
    for (int seed = 3; seed < 9; ++seed) sweep.trials.push_back(a_trial("cl", kHalfBudget, 5 + seed, seed, "pending"));
    CHECK_THAT(all_notes(comparison_table(sweep, about())),
               ContainsSubstring("cl[budget_fraction=0.5]/5 (pending); and 3 more, see deft status.\n"));
}

TEST_CASE("trials that shared a host are said to have") {
    Results sweep = a_sweep();
    const std::int64_t times[][2] = {{10, 20}, {12, 22}, {20, 30}, {22, 32}};
    for (std::size_t i = 0; i < 4; ++i) {
        sweep.trials[i].started_ms = times[i][0];
        sweep.trials[i].ended_ms = times[i][1];
    }
    CHECK_THAT(all_notes(comparison_table(sweep, {})),
               ContainsSubstring("Train time: 2 trials side by side on one host.") &&
                   ContainsSubstring("To fill them: run the sweep's file again."));
    for (std::size_t i = 1; i < 4; i += 2) sweep.trials[i].host.hostname = "node2";
    CHECK_THAT(all_notes(comparison_table(sweep, {})), !ContainsSubstring("side by side"));
}

TEST_CASE("the baseline is the recipe asked for, or the first") {
    const Results sweep = a_sweep();
    const Table by_ltd = comparison_table(sweep, {"ltd", "", "", ""});
    CHECK(by_ltd.rows[1][column(by_ltd, "input\ntokens")].text == "600k 2.00x");
    const Table by_first = comparison_table(sweep, {});
    CHECK(by_first.rows[0][column(by_first, "input\ntokens")].text == "300k 0.50x");
    // A baseline that is not measured gives values without ratios.
    const Table by_cl = comparison_table(sweep, {"cl", "", "", ""});
    CHECK(by_cl.rows[0][column(by_cl, "input\ntokens")].text == "300k");
    CHECK_THAT(all_notes(by_cl), ContainsSubstring("no finished seed yet"));
    CHECK_THAT(test::refusal(ErrorKind::usage,
                             [&] {
                                 comparison_table(sweep, {"clr", "", "", ""});
                             }),
               ContainsSubstring("no recipe 'clr'") && ContainsSubstring("baseline, ltd, cl"));
}

TEST_CASE("other axes have a column, and the baseline agrees on them") {
    Results sweep;
    sweep.name = "wide";
    sweep.trials = {measured(a_trial("base", R"({"model.layers":2})", 0, 1, "ok"), 1000, 1000, 3, 0.5),
                    measured(a_trial("base", R"({"model.layers":4})", 1, 1, "ok"), 4000, 1000, 3, 0.5),
                    measured(a_trial("ltd", R"({ "model.layers": 4 })", 2, 1, "ok"), 2000, 1000, 3, 0.5),
                    measured(a_trial("ltd", R"({"model.layers":4})", 3, 2, "ok"), 2000, 1000, 3, 0.5)};
    const Table table = comparison_table(sweep, {"base", "paper", "", ""});
    CHECK(table.caption == "Sweep wide");
    CHECK(table.key_columns == 2);
    CHECK_THAT(all_notes(table), ContainsSubstring("recipe base and the same axes.") &&
                                     ContainsSubstring("Scale: paper, up to 4.00k input tokens.\n"));
    REQUIRE(table.rows.size() == 3);
    CHECK(table.rows[2][column(table, "axes")].text == "model.layers=4");
    CHECK(table.rows[2][column(table, "input\ntokens")].text == "2.00k 0.50x");
    CHECK(table.rows[2][column(table, "seeds")].text == "2");
}

TEST_CASE("mixed provenance is said out loud") {
    Results sweep = a_sweep();
    sweep.trials[1].code.git_sha = "fedcba9876543210";
    sweep.trials[1].code.dirty = true;
    sweep.trials[2].host.cpu_model = "Other CPU";
    sweep.trials[3].dataset_sha256 = "e6";
    sweep.trials[4].usd.reset();
    const Table table = comparison_table(sweep, about());
    const std::string notes = all_notes(table);
    CHECK_THAT(notes, ContainsSubstring("0123456789ab; fedcba987654 + uncommitted changes"));
    CHECK_THAT(notes, ContainsSubstring("Warning: rows mix 2 builds"));
    CHECK_THAT(notes, ContainsSubstring("Warning: rows mix 2 hosts"));
    CHECK_THAT(notes, ContainsSubstring("Warning: rows mix 2 datasets"));
    CHECK_THAT(notes, ContainsSubstring("no price: set [price] in the sweep file"));
    CHECK(table.rows[2][column(table, "cost")].text == "-");
}

TEST_CASE("three seeds everywhere lift the note about verdicts") {
    Results sweep;
    sweep.name = "three";
    for (int seed = 1; seed <= 3; ++seed)
        sweep.trials.push_back(measured(a_trial("base", "{}", seed, seed, "ok"), 1000, 1000, 3, 0.5));
    const std::string notes = all_notes(comparison_table(sweep, {}));
    CHECK_THAT(notes, ContainsSubstring("Seeds: 3 a row.") && !ContainsSubstring("No verdict"));
    sweep.trials.push_back(measured(a_trial("cl", "{}", 1, 4, "ok"), 1000, 1000, 3, 0.5));
    CHECK_THAT(all_notes(comparison_table(sweep, {})),
               ContainsSubstring("Seeds: 1 to 3 a row. No verdict on rows of fewer than three."));
}

TEST_CASE("a score that some seeds lack shows how many have it") {
    Results sweep = a_sweep();
    sweep.trials[0].scores.pop_back();
    const Table table = comparison_table(sweep, {});
    CHECK(table.rows[0][column(table, "validation\nloss ↓\n(nats/token)")].text == "3.700 [1 of 2]");
}

TEST_CASE("scores that differ in split or shots have columns of their own") {
    Results sweep;
    sweep.name = "s";
    sweep.trials = {measured(a_trial("base", "{}", 0, 1, "ok"), 1000, 1000, 3, 0.5)};
    auto& scores = sweep.trials[0].scores;
    scores = {scores[0], scores[0], scores[0]};
    scores[1].split = "valid";
    scores[2].shots = 10;
    const Table table = comparison_table(sweep, {});
    CHECK(table.rows[0][column(table, "questions\nacc ↑\n(test, chance 0.25)")].text == "0.500");
    column(table, "questions\nacc ↑\n(valid, chance 0.25)");
    column(table, "questions\nacc ↑\n(10-shot, chance 0.25)");
}

TEST_CASE("a sweep without trials") {
    Results sweep;
    sweep.name = "empty";
    const Table table = comparison_table(sweep, about());
    CHECK(table.rows.empty());
    CHECK(all_notes(table) == "The sweep has no trials.\n");
    CHECK(status_table(sweep).rows.empty());
}

TEST_CASE("the status of a sweep") {
    const Table table = status_table(a_sweep());
    REQUIRE(table.rows.size() == 8);
    CHECK(table.rows[0] ==
          std::vector<Cell>{"hash0012", "baseline[budget_fraction=0.5]/1", "ok", "1", "300", "3.600", "300k", ""});
    CHECK(table.rows[5] == std::vector<Cell>{"hash5012", "ltd[budget_fraction=0.5]/2", "failed", "2", "-", "-", "-",
                                             "nan: loss is NaN"});
    CHECK(table.notes.at(0) == "8 trials, 1 failed, 5 ok, 2 pending");
}

TEST_CASE("everything about a trial") {
    Results sweep = a_sweep();
    sweep.trials[0].code.dirty = true;
    sweep.trials[0].code.diff_sha256 = "d1ff";
    sweep.trials[0].workdir = "runs/abc";
    const std::string text = render_trial(sweep.trials[0]);
    CHECK_THAT(text, ContainsSubstring("baseline[budget_fraction=0.5]/1\n") && ContainsSubstring("runs/abc") &&
                         ContainsSubstring("diff d1ff"));
    CHECK_THAT(text, ContainsSubstring("questions acc") && ContainsSubstring("chance 0.250"));
    CHECK_THAT(text, ContainsSubstring("d5d5d5d5d5d5d5d5") && ContainsSubstring("Example CPU, 4 cores"));
    CHECK_THAT(text, ContainsSubstring("    \"steps\": 10"));
    CHECK_THAT(text, !ContainsSubstring("Error"));
    const std::string failed = render_trial(sweep.trials[5]);
    CHECK_THAT(failed, ContainsSubstring("Error\n  nan: loss is NaN\n  at step 3\n"));
    const std::string pending = render_trial(sweep.trials[6]);
    CHECK_THAT(pending, ContainsSubstring("none yet") && ContainsSubstring("pending"));
}

TEST_CASE("the reference of a row is its baseline at the largest budget, where another axis goes with the budget too") {
    const auto trial = [](const char* recipe, const char* axes) { return a_finished_trial(recipe, axes, 1, 3); };
    const char* const full = R"({"train.budget_fraction":1.0,"train.learning_rate":0.001,"model.layers":2})";
    const char* const half = R"({"train.budget_fraction":0.5,"train.learning_rate":0.002,"model.layers":2})";
    const char* const deep = R"({"train.budget_fraction":0.5,"train.learning_rate":0.002,"model.layers":4})";
    const char* const deep_full = R"({"train.budget_fraction":1.0,"train.learning_rate":0.001,"model.layers":4})";
    const Results sweep = a_sweep_of({trial("base", full), trial("base", half), trial("base", deep_full),
                                      trial("base", deep), trial("cl", half), trial("cl", deep)});
    const std::vector<Row> rows = rows_of(sweep);
    CHECK(rows[4].axes.follow_budget == std::set<std::string>{"train.learning_rate"});
    CHECK(&reference_of(rows, "base", rows[4]) == &rows[0]);
    CHECK(&reference_of(rows, "base", rows[5]) == &rows[2]);
    CHECK(rows[4].axes.others_text() == "model.layers=2");
    CHECK(budget_axes_notes(rows) ==
          std::vector<std::string>{"train.learning_rate goes with the budget: 0.002 at 50%, 0.001 at 100%."});
    CHECK_THAT(render_terminal(comparison_table(sweep, {}), 0),
               ContainsSubstring("train.learning_rate goes with the budget") && !ContainsSubstring("learning_rate="));
    // A rate distinguishes rows where two budgets share one, or one budget has two.
    const Results grid = a_sweep_of({trial("base", R"({"train.budget_fraction":1.0,"train.learning_rate":0.001})"),
                                     trial("base", R"({"train.budget_fraction":1.0,"train.learning_rate":0.002})"),
                                     trial("base", R"({"train.budget_fraction":0.5,"train.learning_rate":0.002})")});
    const std::vector<Row> of_grid = rows_of(grid);
    CHECK(of_grid[2].axes.follow_budget.empty());
    CHECK(&reference_of(of_grid, "base", of_grid[2]) == &of_grid[1]);
    // Two rates at the smaller budget have the one row of all of it for their reference, and so do stages' rates; but a
    // row of another model has not.
    const Results two = a_sweep_of({trial("base", R"({"train.budget_fraction":1.0,"train.learning_rate":0.001})"),
                                    trial("base", R"({"train.budget_fraction":0.5,"train.learning_rate":0.001})"),
                                    trial("base", R"({"train.budget_fraction":0.5,"train.learning_rate":0.002})"),
                                    trial("base", R"({"train.budget_fraction":0.5,"pretrain.train.eps":0.1,)"
                                                  R"("train.learning_rate":0.002})")});
    const std::vector<Row> rates = rows_of(two);
    CHECK(&reference_of(rates, "base", rates[1]) == &rates[0]);
    CHECK(&reference_of(rates, "base", rates[2]) == &rates[0]);
    CHECK(&reference_of(rates, "base", rates[3]) == &rates[0]);
    const Results models = a_sweep_of({trial("base", R"({"train.budget_fraction":1.0,"model.layers":2})"),
                                       trial("base", R"({"train.budget_fraction":0.5,"model.layers":2})"),
                                       trial("base", R"({"train.budget_fraction":0.5,"model.layers":4})")});
    const std::vector<Row> layers = rows_of(models);
    CHECK(&reference_of(layers, "base", layers[1]) == &layers[0]);
    CHECK(&reference_of(layers, "base", layers[2]) == &layers[2]);
    const Results same = a_sweep_of({trial("base", R"({"train.budget_fraction":1.0,"model.layers":2})"),
                                     trial("base", R"({"train.budget_fraction":0.5,"model.layers":2})")});
    CHECK(rows_of(same)[0].axes.follow_budget.empty());
}
