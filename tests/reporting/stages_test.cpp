// Rows of a sweep with stages: what they count by, and what they are compared with.

#include "reporting/analysis/comparison/stages.h"
#include <algorithm>
#include <array>
#include "reporting/analysis/results/rows.h"

#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Trial trial_in(const std::string& stage, const std::string& seeds, std::int64_t ordinal) {
    Trial trial;
    trial.stage = stage;
    trial.seeds = seeds;
    trial.recipe = "plain";
    trial.axes_json = "{}";
    trial.ordinal = ordinal;
    trial.state = "ok";
    return trial;
}

}  // namespace

TEST_CASE("Seeds of a later stage are averaged by the first seed of their chain") {
    const Trial a = trial_in("b", "1.7", 0), b = trial_in("b", "1.8", 1), c = trial_in("b", "2.7", 2);
    CHECK(unit_seed(b) == "1");
    CHECK(unit_means({{&a, 1.0}, {&b, 2.0}, {&c, 5.0}}) == std::vector<double>{1.5, 5.0});
    Trial alone = trial_in("", "", 0);
    alone.seed = 4;
    CHECK(unit_seed(alone) == "4");
}

TEST_CASE("A row is compared with the baseline of its own stage") {
    Results sweep;
    sweep.trials = {trial_in("pretrain", "1", 0), trial_in("finetune", "1", 1)};
    const std::vector<Row> rows = rows_of(sweep);
    REQUIRE(rows.size() == 2);
    for (const Row& row : rows) CHECK(&reference_of(rows, "plain", row) == &row);
    const std::vector<StageResults> stages = stages_of(sweep);
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].name == "pretrain");
    CHECK(stages[1].sweep.trials.size() == 1);
}

TEST_CASE("The stages of a sweep are one table, whose first column says which") {
    Results sweep = a_sweep_of({
        a_finished_trial("plain", "{}", 1, 3.5),
        a_finished_trial("other", "{}", 1, 3.25),
        a_finished_trial("plain", "{}", 1, 2.5),
        a_finished_trial("other", "{}", 1, 2.25),
    });
    for (std::size_t i = 0; i < sweep.trials.size(); ++i) sweep.trials[i].stage = i < 2 ? "first" : "second";
    // A score that only the later stage has, and one that only the earlier one has.
    for (const std::size_t i : {0, 1}) sweep.trials[i].scores.push_back(a_score("alpha", "acc", 0.25));
    for (const std::size_t i : {2, 3}) sweep.trials[i].scores.push_back(a_score("beta", "acc", 0.75));
    const Table table = comparison_of_stages(sweep, {});
    REQUIRE(table.rows.size() == 4);
    const auto place_of = [&](const std::string& begin) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (table.columns[i].title.starts_with(begin)) return i;
        FAIL("no column " << begin);
        return std::size_t{0};
    };
    CHECK(table.columns[0].title == "stage");
    CHECK(table.columns[1].title == "recipe");
    CHECK(table.key_columns == 2);
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    const auto column = [&](std::size_t place) {
        std::vector<std::string> texts;
        for (const auto& row : table.rows) texts.push_back(row[place].text);
        return texts;
    };
    CHECK(column(0) == std::vector<std::string>{"first", "first", "second", "second"});
    CHECK(column(1) == std::vector<std::string>{"plain", "other", "plain", "other"});
    const auto value = [&](std::size_t row, std::size_t place) { return table.rows[row][place].value; };
    const std::size_t loss = place_of("validation\nloss"), alpha = place_of("alpha"), beta = place_of("beta");
    for (const std::size_t row : {0, 1, 2, 3}) CHECK(value(row, loss) == std::array{3.5, 3.25, 2.5, 2.25}[row]);
    CHECK(value(1, alpha) == 0.25);
    CHECK(table.rows[3][alpha] == Cell("-"));
    CHECK(value(2, beta) == 0.75);
    CHECK(table.rows[0][beta] == Cell("-"));
    // A column that only the second has comes right of the one that it follows there.
    CHECK(loss < beta);
    CHECK(beta < alpha);
    // The CSV of it has one header, and nothing but a field in the place of what a stage has not.
    const std::string csv = render_csv(table);
    CHECK(csv.starts_with("stage,recipe,"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
    // Without stages it is the comparison that it was.
    for (Trial& trial : sweep.trials) trial.stage.clear();
    CHECK(comparison_of_stages(sweep, {}).columns[0].title == "recipe");
}

TEST_CASE("A published table of one stage is printed beside that stage, and any other beside those that pretrain") {
    Results sweep;
    sweep.trials = {trial_in("pretrain", "1", 0), trial_in("finetune", "1", 1)};
    set_configuration(sweep.trials[1], R"({"start": {"trial": "a", "variant": "b"}})");
    SweepAbout about;
    about.published.emplace();
    const auto has = [&](const std::vector<StageResults>& stages, std::size_t i) {
        return about_stage(about, stages[i]).published.has_value();
    };
    const std::vector<StageResults> stages = stages_of(sweep);
    REQUIRE(stages.size() == 2);
    about.published->stage = "finetune";
    CHECK(!has(stages, 0));
    CHECK(has(stages, 1));
    about.published->stage = "pretrain";
    CHECK(has(stages, 0));
    CHECK(!has(stages, 1));
    about.published->stage.clear();
    CHECK(has(stages, 0));
    // A sweep without stages has it beside its one table.
    about.published->stage = "finetune";
    sweep.trials = {trial_in("", "1", 0)};
    CHECK(has(stages_of(sweep), 0));
}
