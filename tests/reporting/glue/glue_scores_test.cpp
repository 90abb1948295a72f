// GLUE of a sweep's pretrained models, as the database would give it: what is gathered, where it is printed, what is
// left out.

#include "reporting/analysis/glue/glue_scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/json.h"
#include "base/score_key.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/published_columns.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/glue/glue_table.h"
#include "reporting/analysis/missing/missing_runs.h"
#include "reporting/analysis/scores/labelled_notes.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/views/page/page.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string budget_axis_of(double budget) {
    return fmt::format(R"({{"pretrain.train.budget_fraction":{}}})", budget);
}

Trial pretrained(const char* recipe, double budget, std::int64_t seed) {
    Trial trial = a_finished_trial(recipe, budget_axis_of(budget).c_str(), seed, 2);
    trial.stage = "pretrain";
    trial.scores.push_back(a_validation("unigram_entropy", 6));
    return trial;
}

// `value`: of the task's measure, as stored.
Trial tuned(const Trial& model, const std::string& task, const char* measure, double value, double rate = 2e-5,
            std::int64_t seed = 1234) {
    Trial trial = a_finished_trial(model.recipe.c_str(), model.axes_json.c_str(), seed, 1);
    trial.stage = task.substr(5);
    trial.seeds = fmt::format("{}.{}", model.seed, seed);
    trial.config_hash = fmt::format("{} {} {} {}", model.config_hash, task, rate, seed);
    set_configuration(
        trial, fmt::format(R"({{"data":{{"samples":"labelled","corpus":"{}","labelled":{{"truncate_labels":false}}}},)"
                           R"("model":{{"seqlen":64}},"start":{{"trial":{}}},"train":{{"learning_rate":{}}}}})",
                           task, Json(model.config_hash).dump(), rate));
    trial.scores = {a_score("validation", measure, value)};
    trial.scores.front().split = task == "glue_mnli" ? "matched" : "validation";
    return trial;
}

Results with_glue(std::vector<Trial> trials) {
    Results sweep = a_sweep_of(std::move(trials));
    add_fine_tuned(sweep);
    return sweep;
}

Quantity glue_average() {
    return parse_quantity("suite:glue average", {});
}

PublishedTable bert_table() {
    return read_published_table(std::filesystem::path(DEFT_SOURCE_DIR) /
                                "reporting/paper/data_efficiency_bert_curriculum.toml");
}

}  // namespace

TEST_CASE("a model's average is over the tasks that later stages fine-tune it on, its own seeds alone") {
    const Trial one = pretrained("baseline", 1.0, 1), two = pretrained("baseline", 1.0, 2);
    const Results sweep =
        with_glue({one, two, tuned(one, "glue_cola", "mcc", 0.5), tuned(one, "glue_cola", "mcc", 0.6, 2e-5, 1235),
                   tuned(one, "glue_rte", "acc", 0.7), tuned(one, "glue_rte", "acc", 0.72, 2e-5, 1235),
                   tuned(two, "glue_cola", "mcc", 0.1), tuned(two, "glue_rte", "acc", 0.3)});
    REQUIRE(sweep.trials[0].fine_tuned);
    CHECK(sweep.trials[0].fine_tuned->average == 66.0);  // 60 and 72, the higher of two
    CHECK(sweep.trials[0].fine_tuned->columns == std::vector<std::string>{"CoLA", "RTE"});
    CHECK(sweep.trials[1].fine_tuned->average == 20.0);
    CHECK_FALSE(sweep.trials[2].fine_tuned);
    CHECK(value_of(glue_average(), sweep.trials[0]) == 66.0);
    CHECK_FALSE(value_of(glue_average(), sweep.trials[2]));
    CHECK_FALSE(value_of(parse_quantity("suite:data_efficiency average", {}), sweep.trials[0]));
    const GlueScores scores = glue_scores(sweep);
    REQUIRE(scores.models.size() == 2);
    CHECK(scores.models[0].result.rates[0].spread == 4.24);  // of 7.07 and 1.41
    CHECK(scores.not_here == std::vector<std::string>{"MNLI-m", "MNLI-mm", "QQP", "QNLI", "SST-2", "STS-B", "MRPC"});
}

TEST_CASE("MNLI fills two columns where both splits are scored, and its seeds are compared by all records") {
    const Trial model = pretrained("baseline", 1.0, 1);
    const auto mnli = [&](double all, double matched, double mismatched, std::int64_t seed) {
        Trial trial = tuned(model, "glue_mnli", "acc", all, 2e-5, seed);
        trial.scores.push_back(a_score("validation", "acc", matched));
        trial.scores.push_back(a_score("validation", "acc", mismatched));
        trial.scores.push_back(a_score("validation", "loss", 9));
        trial.scores[0].split = kAllSplits;
        trial.scores[1].split = "matched";
        trial.scores[2].split = "mismatched";
        return trial;
    };
    const GlueScores scores =
        glue_scores(a_sweep_of({model, mnli(0.5, 0.9, 0.1, 1), mnli(0.6, 0.4, 0.8, 2), mnli(0.7, 0.95, 0.45, 3)}));
    const GlueAtRate& at = scores.models.front().result.rates.front();
    REQUIRE(at.columns.size() == 2);
    CHECK(at.columns[0].name == "MNLI-m");
    CHECK(at.columns[0].value == 40.0);  // of the seed whose 60 is the median, not the middle 90
    CHECK(at.columns[1].value == 80.0);
    CHECK(at.average == 60.0);
}

TEST_CASE("what has no value says why, and leaves a dash") {
    const Trial model = pretrained("baseline", 1.0, 1), other = pretrained("seqtru", 1.0, 1);
    Trial failed = tuned(other, "glue_rte", "acc", 0.7);
    failed.state = "failed";
    failed.fail_class = "nan";
    failed.scores.clear();
    Results sweep = with_glue({model, other, tuned(model, "glue_cola", "mcc", kNone),
                               tuned(model, "glue_rte", "acc", 0.7), tuned(other, "glue_cola", "mcc", 0.2), failed});
    REQUIRE(sweep.trials[0].fine_tuned);
    CHECK_FALSE(sweep.trials[0].fine_tuned->average);
    CHECK(sweep.trials[0].fine_tuned->lacks ==
          "glue_cola at 2e-05: seed 1234 has no Matthews correlation: all texts have the same prediction, or the same "
          "label");
    CHECK(sweep.trials[1].fine_tuned->lacks == "glue_rte at 2e-05: seed 1234 is failed (nan)");
    CHECK_FALSE(value_of(glue_average(), sweep.trials[0]));
    const std::optional<Table> table = glue_table(sweep);
    REQUIRE(table);
    REQUIRE(table->rows.size() == 2);
    CHECK(table->rows[0][0].text == "baseline:pretrain[budget_fraction=1]/1");
    CHECK(table->rows[0][2].text == "-");
    CHECK(table->rows[0][3].text == "-");
    CHECK(table->rows[0][4].text == "-");      // CoLA
    CHECK(table->rows[0][5].text == "70.00");  // RTE
    CHECK(table->rows[1][4].text == "20.00");
    CHECK(table->rows[1][5].text == "-");
    const std::string notes = fmt::format("{}", fmt::join(table->notes, "\n"));
    CHECK_THAT(notes,
               ContainsSubstring(
                   "No GLUE average of seqtru:pretrain[budget_fraction=1]/1: glue_rte at 2e-05: seed 1234 is failed"));
    CHECK_THAT(notes, ContainsSubstring("No value: baseline:cola[budget_fraction=1]/1.1234 has no Matthews"));
    CHECK_THAT(notes, ContainsSubstring("for no trial scored it: MNLI-m"));

    // In its own stage's table.
    const std::vector<StageResults> stages = stages_of(sweep);
    REQUIRE(stages[1].name == "cola");
    const Table cola = comparison_table(stages[1].sweep, {});
    CHECK(cola.rows[0].back().text == "-");
    CHECK(cola.rows[1].back().text == "0.200");
    CHECK_THAT(fmt::format("{}", fmt::join(cola.notes, "\n")), ContainsSubstring("has no Matthews correlation"));
    // A loss that is NaN stays in sight.
    for (const std::size_t i : {2, 4}) sweep.trials[i].scores.front().measure = "loss";
    CHECK(comparison_table(stages_of(sweep)[1].sweep, {}).rows[0].back().text == "NaN");
}

TEST_CASE("a fine-tuning that does not count as measured, or was not scored, gives no value") {
    const Trial model = pretrained("baseline", 1.0, 1);
    Trial few = tuned(model, "glue_rte", "acc", 0.7);
    few.last_point->step = 90;
    CHECK(with_glue({model, few}).trials[0].fine_tuned->lacks ==
          "glue_rte at 2e-05: seed 1234 does not count as measured: it ran 90 steps, fewer than 200");
    Trial unscored = tuned(model, "glue_rte", "acc", 0.7);
    unscored.scores.clear();
    CHECK(with_glue({model, unscored}).trials[0].fine_tuned->lacks == "glue_rte at 2e-05: seed 1234 is not scored");
    // The numbers of a pretraining that does not count are greyed.
    Trial untrained = pretrained("baseline", 1.0, 1);
    untrained.last_point->step = 90;
    const std::optional<Table> table = glue_table(with_glue({untrained, tuned(untrained, "glue_rte", "acc", 0.7)}));
    REQUIRE(table);
    CHECK(table->rows[0][4].text == "70.00");
    CHECK_FALSE(table->rows[0][4].flag.empty());
    CHECK_FALSE(table->rows[0][0].flag.empty());
    CHECK_THAT(table->notes.back(), ContainsSubstring("† The pretraining does not count"));
}

TEST_CASE("a chosen rate at the lowest or highest end of those tried is reported") {
    const Trial one = pretrained("baseline", 1.0, 1), two = pretrained("baseline", 1.0, 2);
    const auto notes = [&](double best_of_one, double best_of_two) {
        std::vector<Trial> trials = {one, two};
        for (const double rate : {3e-5, 2e-5, 4e-5}) {
            trials.push_back(tuned(one, "glue_rte", "acc", rate == best_of_one ? 0.7 : 0.6, rate));
            trials.push_back(tuned(two, "glue_rte", "acc", rate == best_of_two ? 0.7 : 0.6, rate));
        }
        return fmt::format("{}", fmt::join(glue_notes(glue_scores(a_sweep_of(std::move(trials)))), "\n"));
    };
    const char* const of_all = "at the end of those tried, for 2 of 2 models";
    const char* const of_one = "at the end of those tried, for 1 of 2 models";
    CHECK_THAT(notes(2e-5, 4e-5), ContainsSubstring(of_all));
    CHECK_THAT(notes(3e-5, 4e-5), ContainsSubstring(of_one));
    CHECK_THAT(notes(2e-5, 3e-5), ContainsSubstring(of_one));
    CHECK_THAT(notes(3e-5, 3e-5), !ContainsSubstring("at the end of"));
    // A rate without a value is not tried yet: of these, one at the end of those with a value.
    std::vector<Trial> trials = {one};
    for (const double rate : {2e-5, 3e-5, 4e-5}) trials.push_back(tuned(one, "glue_rte", "acc", 1 - 1e4 * rate, rate));
    const auto notes_now = [&] {
        return fmt::format("{}", fmt::join(glue_notes(glue_scores(a_sweep_of(trials))), "\n"));
    };
    CHECK_THAT(notes_now(), ContainsSubstring("for 1 of 1 model"));
    trials.back().scores.clear();
    CHECK_THAT(notes_now(), !ContainsSubstring("at the end of"));
    // A single rate leaves no choice.
    const std::string alone = fmt::format(
        "{}", fmt::join(glue_notes(glue_scores(a_sweep_of({one, tuned(one, "glue_rte", "acc", 0.7)}))), "\n"));
    CHECK_THAT(alone, !ContainsSubstring("at the end of"));
}

TEST_CASE("what is stale among the scores that count marks the average") {
    const Trial model = pretrained("baseline", 1.0, 1);
    Trial at_best = tuned(model, "glue_rte", "acc", 0.7), at_other = tuned(model, "glue_rte", "acc", 0.6, 3e-5);
    at_other.stale = "code: old";
    CHECK(with_glue({model, at_best, at_other}).trials[0].fine_tuned->stale.empty());
    at_best.scores.front().stale = "eval: records";
    const Results sweep = with_glue({model, at_best, at_other});
    CHECK(sweep.trials[0].fine_tuned->stale == "eval: records");
    CHECK(stale_score(glue_average(), sweep.trials[0]) == "eval: records");
}

TEST_CASE("the average is printed beside the published one, only in the pretraining's table") {
    const Trial base = pretrained("baseline", 1.0, 1), less = pretrained("baseline", 0.67, 1);
    const Results sweep =
        with_glue({base, less, tuned(base, "glue_rte", "acc", 0.7), tuned(base, "glue_rte", "acc", 0.8, 3e-5),
                   tuned(less, "glue_rte", "acc", 0.6125), tuned(less, "glue_rte", "acc", 0.5, 3e-5)});
    SweepAbout about;
    about.baseline = "baseline";
    about.published = bert_table();
    const std::vector<StageResults> stages = stages_of(sweep);
    const Table table = comparison_table(stages[0].sweep, about_stage(about, stages[0]));
    const auto find = [&](const std::string& title) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (table.columns[i].title.starts_with(title)) return i;
        return table.columns.size();
    };
    const std::size_t measured = find("GLUE average\nmeasured\n"), published = find("GLUE average\n(published)"),
                      difference = find("GLUE average\nagainst 100% baseline\nmeasured");
    REQUIRE(difference < table.columns.size());
    CHECK(table.rows[0][measured].text == "80.00");
    CHECK(table.rows[1][measured].text == "61.25");
    CHECK(table.rows[0][published].text == "87.29");
    CHECK(table.rows[1][published].text == "87.19");
    CHECK(table.rows[1][difference].text == "-18.75");
    for (const MissingRun& run : missing_runs(sweep, about, {}).runs) CHECK(run.name != "column GLUE average");
    CHECK(about_stage(about, stages[0]).published);
    CHECK_FALSE(about_stage(about, stages[1]).published);
    CHECK_FALSE(only_fine_tunes(stages[0].sweep));
    CHECK(only_fine_tunes(stages[1].sweep));
    CHECK_FALSE(only_fine_tunes(sweep));
}

TEST_CASE("the page shows the table of GLUE and its notes once") {
    const Trial model = pretrained("baseline", 1.0, 1);
    ReportData data;
    data.sweep = with_glue({model, tuned(model, "glue_rte", "acc", 0.7)});
    data.about.baseline = "baseline";
    const std::string html = render_page(data);
    const std::size_t note = html.find("Of each task the best epoch of every fine-tuning seed");
    REQUIRE(note != std::string::npos);
    CHECK(html.find("Of each task the best epoch of every fine-tuning seed", note + 1) == std::string::npos);
    CHECK_THAT(html, ContainsSubstring("<h2 id=\"glue\">"));
}

TEST_CASE("one stage's budget is the row's, in that stage and in later ones") {
    const Axes axes = parse_axes(R"({"pretrain.train.budget_fraction":0.67,"cola.train.learning_rate":2e-05})");
    CHECK(axes.has_budget);
    CHECK(axes.budget_fraction == 0.67);
    CHECK(axes.others.size() == 1);
    const Axes two = parse_axes(R"({"a.train.budget_fraction":0.67,"b.train.budget_fraction":0.5})");
    CHECK_FALSE(two.has_budget);
    CHECK(two.others.size() == 2);
    CHECK_FALSE(parse_axes(R"({"my_train.budget_fraction":0.67})").has_budget);
}

TEST_CASE("rows report the enabled defects of published code") {
    const Trial model = pretrained("baseline", 1.0, 1);
    Trial cut = tuned(model, "glue_stsb", "spearman", 0.5);
    CHECK(labelled_notes(rows_of(a_sweep_of({cut}))).empty());
    set_configuration(cut, R"({"data":{"labelled":{"truncate_labels":true,"whole_batches":32}}})");
    const std::vector<std::string> notes = labelled_notes(rows_of(a_sweep_of({cut, model})));
    REQUIRE(notes.size() == 2);
    CHECK(notes[0] ==
          "Defect of the published code, switched on for baseline:stsb[budget_fraction=1]: labels that are numbers are "
          "cut to whole ones.");
    CHECK_THAT(notes[1], ContainsSubstring("records that fill no batch of 32 are left out"));
}
