// When a row counts as measured.

#include "reporting/analysis/scores/measured.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/scores/scoring_notes.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"

using namespace deft::reporting;
using deft::reporting::Trial;

namespace {

Trial with_entropy(double loss, double entropy) {
    Trial trial = a_finished_trial("cl", "{}", 1, loss);
    trial.scores.push_back(a_validation("unigram_entropy", entropy));
    return trial;
}

}  // namespace

TEST_CASE("schedules must reach their ends") {
    Trial trial = a_finished_trial("cl", "{}", 1, 3);
    CHECK(measured_rule(trial).failure.empty());
    CHECK(measured_rule(trial).length_known);
    CHECK(!measured_rule(trial).entropy_known);
    trial.last_point->kept_tokens = 40;
    CHECK(measured_rule(trial).failure == "the kept-token schedule ended at 40 of 64");
    trial.last_point->seqlen = 56;
    CHECK(measured_rule(trial).failure == "the length schedule ended at 56 of 64");
    for (const char* config : {"", "[]", "{}", R"({"model":3})", R"({"model":{"seqlen":"x"}})"}) {
        set_configuration(trial, config);
        CHECK(!measured_rule(trial).length_known);
        CHECK(measured_rule(trial).failure.empty());
    }
}

TEST_CASE("a constant number of kept tokens has no end to reach") {
    Trial trial = a_finished_trial("ltd", "{}", 1, 3);
    trial.last_point->kept_tokens = 16;
    for (const char* constant : {R"({"keep_first":0,"pacing":"constant","min":16,"max":16})",
                                 R"({"keep_first":0,"pacing":"linear","min":16,"max":16})"}) {
        for (const char* dropper : {"random_ltd", "token_bypass"}) {
            set_configuration(trial, fmt::format(R"({{"model":{{"seqlen":64}},"{}":{}}})", dropper, constant));
            CHECK(measured_rule(trial).failure.empty());
            CHECK(measured_rule(trial).length_known);
        }
    }
    set_configuration(trial,
                      R"({"model":{"seqlen":64},"random_ltd":{"keep_first":0,"pacing":"linear","min":16,"max":64}})");
    CHECK(measured_rule(trial).failure == "the kept-token schedule ended at 16 of 64");
    trial.config_json =
        R"({"model":{"seqlen":64},"random_ltd":{"keep_first":0,"pacing":"constant","min":16,"max":16}})";
    trial.last_point->seqlen = 56;
    CHECK(measured_rule(trial).failure == "the length schedule ended at 56 of 64");
}

TEST_CASE("fewer than 200 steps measure nothing") {
    Trial trial = a_finished_trial("base", "{}", 1, 3);
    trial.last_point->step = 200;
    CHECK(measured_rule(trial).failure.empty());
    trial.last_point->step = 199;
    CHECK(measured_rule(trial).failure == "it ran 199 steps, fewer than 200");
}

TEST_CASE("the validation loss must lie a tenth below the unigram entropy") {
    CHECK(measured_rule(with_entropy(2.69, 3)).failure.empty());
    CHECK(measured_rule(with_entropy(2.71, 3)).failure ==
          "the validation loss 2.710 is not 10% below the unigram entropy 3.000");
    CHECK(measured_rule(with_entropy(NAN, 3)).failure ==
          "the validation loss NaN is not 10% below the unigram entropy 3.000");
    Trial trial = with_entropy(2, 3);
    trial.scores.erase(trial.scores.begin());
    CHECK(measured_rule(trial).failure == "validation loss is absent");
}

TEST_CASE("a row that is not measured keeps its values, greyed in every renderer, and says why") {
    Trial short_one = a_finished_trial("cl", "{}", 2, 3);
    short_one.last_point->seqlen = 56;
    const auto sweep =
        a_sweep_of({a_finished_trial("base", "{}", 1, 3), a_finished_trial("cl", "{}", 1, 3), short_one});
    const Table table = comparison_table(sweep, {"base", "smoke", "", ""});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0][0].flag.empty());
    CHECK(table.rows[1][0].flag == "the length schedule ended at 56 of 64 (seed 2)");
    CHECK(table.rows[1].back().flag == table.rows[1][0].flag);
    CHECK(table.rows[1].back().value == Approx(3));
    CHECK(table.rows[1].back().is_best == false);
    const std::string value = table.rows[1].back().text;
    CHECK_THAT(render_terminal(table, 0), ContainsSubstring("(" + value + ") †"));
    CHECK_THAT(render_markdown(table), ContainsSubstring("(" + value + ") †"));
    CHECK_THAT(render_csv(table), ContainsSubstring(",the length schedule ended at 56 of 64 (seed 2)\r\n"));
    CHECK_THAT(render_latex(table),
               ContainsSubstring("\\textcolor{gray}{cl $\\dagger$}") && ContainsSubstring("xcolor"));
    CHECK_THAT(render_html(table), ContainsSubstring("class=\"flag\" title=\"the length schedule ended at 56 of 64"));
    CHECK_THAT(render_json(table), ContainsSubstring("\"flag\": \"the length schedule ended at 56 of 64 (seed 2)\""));
    const Table seeds = per_seed_table(sweep);
    CHECK(seeds.rows[1].back().flag.empty());
    CHECK(seeds.rows[2].back().flag == "the length schedule ended at 56 of 64");
    CHECK(cell(table, 1, "steps") == "1000");  // which were run
    CHECK_THAT(all_notes(table),
               ContainsSubstring(
                   "† Not measured: cl: the length schedule ended at 56 of 64 (seed 2).\n"
                   "† Values of these rows are shown in grey, in plain text in parentheses, and count in no verdict.\n"
                   "Other rows: at least 200 steps, schedules reached their ends; unigram entropy unknown.\n"));
}

TEST_CASE("two hundred rows that are not measured take a few notes") {
    std::vector<Trial> trials = {a_finished_trial("base", "{}", 1, 3)};
    for (int i = 0; i < 200; ++i) {
        Trial& trial = trials.emplace_back(a_finished_trial(("cl" + std::to_string(i)).c_str(), "{}", 1, 3));
        trial.last_point->seqlen = i < 100 ? 56 : i % 60;  // half for one reason, the others each for another
    }
    const Table table = comparison_table(a_sweep_of(trials), {"base", "smoke", "", ""});
    std::size_t notes = 0;
    for (const std::string& note : table.notes) notes += note.starts_with("† Not measured") ? 1 : 0;
    CHECK(notes == 7);  // six reasons and the rest
    CHECK_THAT(all_notes(table), ContainsSubstring("cl0, cl1, cl2, cl3, cl4, cl5 and 96 more rows: the length schedule "
                                                   "ended at 56 of 64 (seed 1)."));
    CHECK(table.rows[150][0].flag == "the length schedule ended at 29 of 64 (seed 1)");
}

TEST_CASE("the unigram entropy has no column of its own") {
    const Table table = comparison_table(a_sweep_of({with_entropy(2, 3)}), {});
    for (const Column& column : table.columns) CHECK(column.title.find("unigram") == std::string::npos);
    CHECK_THAT(all_notes(table), ContainsSubstring("at least 10% below the unigram entropy.\n"));
}

TEST_CASE("notes below the table say which weights were scored, and how many prompts did not fit") {
    std::vector<Trial> trials;
    for (const std::int64_t seed : {1, 2}) {
        Trial trial = a_finished_trial("plain", "{}", seed, 3);
        trial.scores.push_back(a_score("piqa", "acc", 0.5));
        trial.scores.back().cut_share = 0.25 * static_cast<double>(seed);
        trial.scores.push_back(a_score("piqa", "acc_norm", 0.5));
        trial.scores.back().cut_share = 0.25 * static_cast<double>(seed);
        trial.scores.push_back(a_score("arc_easy", "acc", 0.5, 10));
        trial.scores.back().cut_share = 1;
        trial.scores.back().mean_shots = static_cast<double>(seed);
        trial.scores.push_back(a_score("boolq", "acc", 0.5, 10));
        trial.scores.back().mean_shots = 10;
        trials.push_back(std::move(trial));
    }
    auto sweep = a_sweep_of(trials);
    CHECK(scoring_notes(rows_of(sweep)) ==
          std::vector<std::string>{"Truncated prompts, longer than the model's sequences: arc_easy (10-shot) "
                                   "100.0%, 1.5 shots left; piqa 37.5%."});
    for (Trial& trial : sweep.trials) {
        trial.scores.clear();
        set_configuration(trial, R"({"selection":{"every":"5%"}})");
        trial.result = deft::results_db::Checkpoint{};
        trial.result->role = trial.seed == 1 ? "best" : "final";
    }
    CHECK(scoring_notes(rows_of(sweep)) ==
          std::vector<std::string>{"Scored weights: the best validated ones of 2 trials (eval.select = \"best\"), 1 of "
                                   "them from before the end of training."});
    CHECK(scoring_notes(rows_of(a_sweep_of({a_finished_trial("plain", "{}", 1, 3)}))).empty());
}
