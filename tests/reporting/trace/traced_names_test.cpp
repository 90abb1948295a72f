// Rows and columns by the words that people have for them.

#include "reporting/analysis/trace/traced_column.h"
#include "reporting/analysis/trace/traced_row.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Trial staged(const char* recipe, const char* stage, const char* axes) {
    Trial trial = a_finished_trial(recipe, axes, 1, 3.0);
    trial.stage = stage;
    return trial;
}

Results two_budgets() {
    return a_sweep_of({a_finished_trial("baseline", kFullBudget, 1, 3.0), a_finished_trial("CL", kFullBudget, 1, 3.1),
                       a_finished_trial("CL", kFullBudget, 2, 3.2), a_finished_trial("CL", kHalfBudget, 1, 3.3),
                       a_finished_trial("CL+LTD", R"({"train.budget_fraction":0.667,"model.layers":4})", 1, 3.3)});
}

std::string row(const Results& sweep, const std::string& asked) {
    const auto rows = rows_of(sweep);
    return find_row(rows, asked).name;
}

std::string column(const Results& sweep, const SweepAbout& about, const std::string& asked) {
    const auto columns = traced_columns(sweep, about);
    return find_column(columns, asked).names.front();
}

PublishedTable combined() {
    return read_published_table(DEFT_SOURCE_DIR "/reporting/paper/data_efficiency_gpt_combined.toml");
}

}  // namespace

TEST_CASE("a row is found by its recipe, its budget and its axes") {
    const Results sweep = two_budgets();
    const std::string half = "CL[budget_fraction=0.5]";
    for (const char* asked : {"CL[budget_fraction=0.5]", "CL[train.budget_fraction=0.50]", "CL at 50%", "CL 50%",
                              " CL at 50 % ", "CL  50%", "CL (under capacity) at 50%", "CL (imported) 50%"}) {
        INFO(asked);
        CHECK(row(sweep, asked) == half);
    }
    CHECK(row(sweep, "baseline") == "baseline[budget_fraction=1.0]");
    CHECK(row(sweep, "baseline (imported)") == "baseline[budget_fraction=1.0]");
    CHECK(row(sweep, "CL at 100%") == "CL[budget_fraction=1.0]");
    CHECK(row(sweep, "CL+LTD at 66.7%") == row(sweep, "CL+LTD[layers=4]"));
    CHECK(row(sweep, "CL+LTD at 66.66667%") == row(sweep, "CL+LTD"));
}

TEST_CASE("a row that is none, or one of several, is refused with what there is") {
    const Results sweep = two_budgets();
    const auto refused = [&](const char* asked, const char* says) {
        INFO(asked);
        CHECK_THAT(test::refusal(ErrorKind::usage, [&] { row(sweep, asked); }), ContainsSubstring(says));
    };
    refused("CL", "'CL[budget_fraction=1.0]', 'CL[budget_fraction=0.5]'");
    refused("CL at 40%", "choose one of: 'CL[budget_fraction=1.0]', 'CL[budget_fraction=0.5]'");
    refused("CL at 150%", "no row");
    refused("baselin", "did you mean baseline?");
    refused("cl at 50%", "CL");
    refused("something else", "its rows: 'baseline[budget_fraction=1.0]', 'CL[budget_fraction=1.0]'");
    refused("CL[budget_fraction=0.5]/1", "no row");  // a trial is not a row
    refused("", "no row");
    refused("%", "no row");
    refused("50%", "no row");
    const Results staged_sweep = a_sweep_of({staged("CL", "pretrain", "{}"), staged("CL", "finetune", "{}")});
    CHECK(row(staged_sweep, "CL:finetune") == "CL:finetune");
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { row(staged_sweep, "CL"); }),
               ContainsSubstring("'CL:pretrain', 'CL:finetune'"));
}

TEST_CASE("a column is found by its title, its key, or words that only it has") {
    Results sweep = two_budgets();
    for (Trial& trial : sweep.trials) {
        trial.scores.push_back(a_score("embedded_questions", "acc", 0.5));
        trial.scores.push_back(a_score("embedded_questions", "acc", 0.6, 10));
        trial.scores.push_back(a_score("lambada", "acc", 0.2));
        trial.scores.push_back(a_validation("bits_per_byte", 1.5));
    }
    SweepAbout about;
    about.published = combined();
    const auto found = [&](const char* asked, const char* name) {
        INFO(asked);
        CHECK(column(sweep, about, asked) == name);
    };
    for (const char* asked : {"lambada acc", "LAMBADA ACC", "task:lambada acc", "lambada", "lambada acc split=test"})
        found(asked, "lambada acc");
    for (const char* asked : {"validation loss", "loss", "task:validation loss", "validation loss (nats/token)"})
        found(asked, "validation loss");
    for (const char* asked : {"questions acc shots=10", "embedded_questions acc shots=10", "questions 10-shot"})
        found(asked, "embedded_questions acc shots=10");
    found("embedded_questions acc", "embedded_questions acc");
    for (const char* asked :
         {"zero_shot", "average 0-shot", "average 0-shot measured", "suite:data_efficiency average"})
        found(asked, "zero_shot");
    for (const char* asked : {"train time", "train hours", "train_hours", "Train\nTime"}) found(asked, "train time");
    found("cost usd", "cost");
    found("FLOPs", "FLOPs");
    found("unique tokens", "unique tokens");
    const auto refused = [&](const char* asked, const char* says) {
        INFO(asked);
        CHECK_THAT(test::refusal(ErrorKind::usage, [&] { column(sweep, about, asked); }), ContainsSubstring(says));
    };
    refused("validation", "choose one of: 'validation bits_per_byte', 'validation loss'");
    refused("lambda acc", "did you mean lambada acc?");
    refused("lambda acc", "'steps', 'input tokens'");
    refused("validaton bits_per_byte", "did you mean validation bits_per_byte?");
    refused("lambda", "did you mean lambada?");
    refused("difference to baseline", "a difference is of two rows");
    refused("tokens", "'input tokens', 'unique tokens', 'consumed tokens'");
    refused("", "no column");
    refused(" ()", "no column");
}

TEST_CASE("columns of one task that differ in split, shots or capacity each have a name of their own") {
    Results sweep = a_sweep_of({a_finished_trial("baseline", "{}", 1, 3.0)});
    Trial& trial = sweep.trials.front();
    trial.scores.push_back(a_score("glue_mnli", "acc", 0.5));
    trial.scores.push_back(a_score("glue_mnli", "acc", 0.4));
    trial.scores.back().split = "mismatched";
    const auto columns = traced_columns(sweep, {});
    const TracedColumn& mismatched = find_column(columns, "glue_mnli acc split=mismatched");
    CHECK(mismatched.value(trial) == 0.4);
    CHECK(find_column(columns, "glue_mnli acc split=test").value(trial) == 0.5);
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { find_column(columns, "glue_mnli acc"); }),
               ContainsSubstring("'glue_mnli acc split=mismatched', 'glue_mnli acc split=test'"));
}

TEST_CASE("an average's column has the tasks that enter it, each with its value") {
    Results sweep = a_sweep_of({a_finished_trial("baseline", kFullBudget, 1, 3.0)});
    Trial& trial = sweep.trials.front();
    trial.scores.push_back(a_score("lambada", "acc", 0.25));
    trial.scores.push_back(a_score("hellaswag", "acc", 0.9));
    trial.scores.push_back(a_score("hellaswag", "acc_norm", 0.75));
    trial.scores.push_back(a_score("lambada", "acc", 0.1, 10));
    SweepAbout about;
    about.published = combined();
    const auto columns = traced_columns(sweep, about);
    const TracedColumn& average = find_column(columns, "zero_shot");
    CHECK(average.value(trial) == 50);
    const auto scores = average.scores(trial);
    REQUIRE(scores.size() == 2);
    CHECK(scores[0].row.task == "hellaswag");
    CHECK(scores[0].row.measure == "acc_norm");
    CHECK(scores[0].value == 75);
    CHECK(scores[1].value == 25);
    REQUIRE(average.tasks.size() == 2);
    CHECK(average.tasks[1].task == "lambada");
    CHECK(find_column(columns, "ten_shot").value(trial) == 10);
    CHECK(find_column(columns, "train time").is_clocked);
    CHECK(find_column(columns, "cost").is_clocked);
    CHECK(find_column(columns, "tokens per s").is_clocked);
    CHECK_FALSE(find_column(columns, "FLOPs").is_clocked);
    CHECK_FALSE(average.is_clocked);
}
