// Two trials, rows or sweeps side by side, and how that is printed.

#include "reporting/analysis/compare/compare.h"

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/without_script.h"

using namespace deft;
using namespace deft::reporting;
using Kind = CompareSide::Kind;

namespace {

// Three seeds at both budgets, each with a curve of ten steps.
struct Swept {
    Results sweep;
    std::vector<Row> rows;
    Curves curves;

    explicit Swept(const char* name, const std::vector<const char*>& recipes, std::size_t seeds = 3) {
        std::vector<Trial> trials;
        double loss = 1;
        for (const char* one : recipes)
            for (const char* axes : {kFullBudget, kHalfBudget})
                for (std::size_t seed = 1; seed <= seeds; ++seed)
                    trials.push_back(a_finished_trial(one, axes, static_cast<std::int64_t>(seed), loss += 0.5));
        sweep = a_sweep_of(trials);
        sweep.name = name;
        sweep.spec_sha256 = "0123456789abcdef";
        for (Trial& trial : sweep.trials) {
            set_configuration(trial, R"({"case":")" + trial.recipe + R"(","train":)" + trial.axes_json + "}");
            trial.config_hash = sweep.name + trial.config_hash;
            results_db::TrialCurve& curve = curves[trial.config_hash];
            for (int step = 1; step <= 10; ++step) {
                journal::TrainPoint point;
                point.step = step;
                point.layer_tokens = 100 * step;
                point.wall_ms = 1000 * step;
                point.loss = trial.scores[0].value + 10 - step;
                curve.points.push_back(point);
            }
        }
        rows = rows_of(sweep);
    }

    CompareSide all() const { return {sweep.name, &sweep, &rows, &curves, Kind::sweep, rows}; }
    CompareSide of_recipe(const char* recipe) const {
        CompareSide side{sweep.name + ":" + recipe, &sweep, &rows, &curves, Kind::recipe_rows, {}};
        for (const Row& row : rows)
            if (row.recipe == recipe) side.chosen.push_back(row);
        return side;
    }
    CompareSide row(std::size_t at) const {
        return {sweep.name + ":" + rows[at].name, &sweep, &rows, &curves, Kind::row, {rows[at]}};
    }
    CompareSide trial(std::size_t at) const {
        CompareSide side = row(at);
        side.kind = Kind::trial;
        side.chosen[0].trials.resize(1);
        side.chosen[0].ok.resize(1);
        return side;
    }
};

std::string no_items(const Trial&, const Score&) {
    return {};
}

Comparison compared(const CompareSide& a, const CompareSide& b) {
    return compare(a, b, Cost::layer_tokens, no_items);
}

std::string printed(const Comparison& comparison) {
    std::string text;
    for (const Table& table : comparison_tables(comparison)) text += render_terminal(table, 0);
    return text;
}

}  // namespace

TEST_CASE("two rows are compared as they are, two recipes budget by budget, two sweeps name by name") {
    const Swept swept("one", {"plain", "CL"}), other("two", {"CL", "LTD"});
    const Comparison rows = compared(swept.row(0), swept.row(3));
    REQUIRE(rows.rows.size() == 1);
    CHECK(rows.rows[0].a == "one@0123456789ab:plain[budget_fraction=1.0]");
    CHECK(rows.rows[0].b == "one@0123456789ab:CL[budget_fraction=0.5]");
    REQUIRE(rows.rows[0].configuration.size() == 2);
    CHECK(to_text(rows.rows[0].configuration[0]) == R"(case: "plain" -> "CL")");
    const Comparison recipes = compared(swept.of_recipe("plain"), swept.of_recipe("CL"));
    REQUIRE(recipes.rows.size() == 2);
    CHECK(recipes.rows[1].b == "one@0123456789ab:CL[budget_fraction=0.5]");
    CHECK(recipes.rows[1].a == "one@0123456789ab:plain[budget_fraction=0.5]");
    // A row beside a recipe is compared with the recipe's row of its budget.
    const Comparison mixed = compared(swept.row(1), swept.of_recipe("CL"));
    REQUIRE(mixed.rows.size() == 1);
    CHECK(mixed.rows[0].b == "one@0123456789ab:CL[budget_fraction=0.5]");
    CHECK(mixed.only_b == std::vector<std::string>{"CL[budget_fraction=1.0]"});
    const Comparison sweeps = compared(swept.all(), other.all());
    REQUIRE(sweeps.rows.size() == 2);
    CHECK(sweeps.rows[0].b == "two@0123456789ab:CL[budget_fraction=1.0]");
    CHECK(sweeps.only_a == std::vector<std::string>{"plain[budget_fraction=1.0]", "plain[budget_fraction=0.5]"});
    CHECK(sweeps.only_b == std::vector<std::string>{"LTD[budget_fraction=1.0]", "LTD[budget_fraction=0.5]"});
    CHECK_THAT(printed(sweeps), ContainsSubstring("Only two has: LTD[budget_fraction=1.0], LTD[budget_fraction=0.5]."));
}

TEST_CASE("sides that cannot be compared are refused") {
    const Swept swept("one", {"plain", "CL"}), other("two", {"LTD"});
    CHECK_THROWS_WITH(compared(swept.all(), swept.row(0)), ContainsSubstring("one is a sweep and one:plain"));
    CHECK_THROWS_WITH(compared(swept.row(0), other.all()), ContainsSubstring("two is a sweep and one:plain"));
    CHECK_THROWS_WITH(compared(swept.row(0), swept.row(0)), ContainsSubstring("is on both sides"));
    CHECK_THROWS_WITH(compared(swept.all(), other.all()), ContainsSubstring("no row in common"));
}

TEST_CASE("what is the same trainings on both sides is not compared") {
    const Swept swept("one", {"plain", "CL"});
    Swept edited("one", {"plain", "CL", "LTD"});
    edited.sweep.spec_sha256 = "another";
    CHECK_THROWS_WITH(compared(swept.row(0), edited.row(0)), ContainsSubstring("are the same trainings"));
    CHECK_THROWS_WITH(compared(swept.all(), edited.all()), ContainsSubstring("are the same trainings"));
    for (Trial& trial : edited.sweep.trials)
        if (trial.recipe == "CL" && trial.axes_json == kHalfBudget) {
            edited.curves[trial.config_hash + "edited"] = edited.curves.at(trial.config_hash);
            trial.config_hash += "edited";
        }
    const Comparison sweeps = compared(swept.all(), edited.all());
    REQUIRE(sweeps.rows.size() == 1);
    CHECK(sweeps.rows[0].b == "one@another:CL[budget_fraction=0.5]");
    CHECK(sweeps.same.size() == 3);
    CHECK_THAT(printed(sweeps), ContainsSubstring("The same trainings on both sides: plain[budget_fraction=1.0], "));
    // One of three is shared.
    edited.sweep.trials[11].config_hash = swept.sweep.trials[11].config_hash;
    const Comparison overlapping = compared(swept.row(3), edited.row(3));
    CHECK_THAT(printed(overlapping), ContainsSubstring("One training is on both sides"));
    REQUIRE(overlapping.rows[0].losses.rows.size() == 10);
    for (const EqualCostRow& row : overlapping.rows[0].losses.rows) CHECK_FALSE(row.interval);
    REQUIRE(sweeps.rows[0].losses.rows.size() == 10);
    CHECK(sweeps.rows[0].losses.rows.back().interval);
}

TEST_CASE("the verdicts of all rows of a comparison are one family") {
    const Swept swept("one", {"plain", "CL"});
    const Comparison one = compared(swept.row(0), swept.row(2)),
                     both = compared(swept.of_recipe("plain"), swept.of_recipe("CL"));
    REQUIRE(one.rows[0].scores.size() == 1);
    CHECK(both.rows[0].scores[0].p_value == one.rows[0].scores[0].p_value);
    CHECK(both.rows[0].scores[0].adjusted_p == Approx(2 * *one.rows[0].scores[0].p_value));
}

TEST_CASE("what a comparison rests on is said below it, once") {
    const Swept swept("one", {"plain", "CL"});
    const std::string text = printed(compared(swept.of_recipe("plain"), swept.of_recipe("CL")));
    const std::string shared = "Losses are means over seeds";
    CHECK(text.find(shared) != std::string::npos);
    CHECK(text.find(shared) == text.rfind(shared));
    CHECK_THAT(text, ContainsSubstring("These are training losses, each the mean over the last twentieth"));
    // The losses of plain are lower at every cost: it ends with less than CL does.
    CHECK_THAT(text, ContainsSubstring("with which A ends takes A 1.00k consumed tokens; the mean of B never "
                                       "gets there (95% interval: B stays above it)."));
    CHECK_THAT(text, ContainsSubstring("with which B ends takes B 1.00k consumed tokens and A "));
    CHECK_THAT(text, ContainsSubstring("the variance pooled over the sweep's rows"));
    Swept unfinished("one", {"plain", "CL"});
    unfinished.sweep.trials[0].state = "failed";
    unfinished.rows = rows_of(unfinished.sweep);
    const std::string two = printed(compared(unfinished.row(0), unfinished.row(2)));
    CHECK_THAT(two, ContainsSubstring("1 of 3 trials not finished, and in no number here: plain[budget_fraction=1.0]"));
    CHECK_THAT(two, ContainsSubstring("No verdict on validation loss"));
    unfinished.sweep.trials[0].fail_class = "nan";
    CHECK_THAT(
        printed(compared(unfinished.row(0), unfinished.row(2))),
        ContainsSubstring("1 trial of plain[budget_fraction=1.0] diverged") && !ContainsSubstring("not finished"));
    const Comparison no_price = compare(swept.row(0), swept.row(2), Cost::usd, no_items);
    CHECK_THAT(printed(no_price),
               ContainsSubstring("No losses at equal cost: plain[budget_fraction=1.0] has no price"));
}

TEST_CASE("seconds of two machines are distinguished from seconds of one") {
    Swept swept("one", {"plain", "CL"});
    for (Trial& trial : swept.sweep.trials) {
        results_db::AttemptRow attempt;
        attempt.counts = true;
        attempt.host.hostname = trial.recipe == "CL" ? "node1" : "node2";
        attempt.shape.devices = 2;
        trial.attempt_rows = {attempt};
    }
    CHECK_THAT(printed(compare(swept.row(0), swept.row(2), Cost::seconds, no_items)),
               ContainsSubstring("A ran on 2 threads of node2; B ran on 2 threads of node1"));
    CHECK_THAT(printed(compare(swept.row(0), swept.row(1), Cost::seconds, no_items)), !ContainsSubstring("ran on"));
    CHECK_THAT(printed(compared(swept.row(0), swept.row(2))), !ContainsSubstring("ran on"));
}

TEST_CASE("documents are compared of two trials alone") {
    const Swept swept("one", {"plain", "CL"});
    const auto items = [](const Trial& trial, const Score&) -> std::string {
        return trial.recipe == "CL" ? "0 1 1 1 0 -1 -1\n1 2 2 1 0 -1 -1\n" : "0 2 1 0 0 -1 -2\n1 2 2 1 0 -1 -3\n";
    };
    const Comparison trials = compare(swept.trial(0), swept.trial(2), Cost::layer_tokens, items);
    REQUIRE(trials.rows[0].items.size() == 1);
    CHECK_THAT(printed(trials), ContainsSubstring("About these two checkpoints, not about their recipes"));
    CHECK(compare(swept.row(0), swept.row(2), Cost::layer_tokens, items).rows[0].items.empty());
    CHECK(compare(swept.trial(0), swept.row(2), Cost::layer_tokens, items).rows[0].items.empty());
    const Json json = parse_json(render_comparison_json(trials));
    const Json& documents = json.at("rows").at(0).at("documents").at(0);
    CHECK(documents.at("only_b") == 1);
    CHECK(documents.at("only_a") == 0);
    CHECK(documents.at("gold_log_likelihood").at("difference") == 1.5);
}

TEST_CASE("a comparison as JSON, CSV and a page") {
    const Swept swept("one", {"plain", "CL"});
    const Comparison comparison = compared(swept.of_recipe("plain"), swept.of_recipe("CL"));
    const Json json = parse_json(render_comparison_json(comparison));
    CHECK(json.at("schema") == "deft-compare/1");
    CHECK(json.at("a") == "one:plain");
    const Json& row = json.at("rows").at(0);
    CHECK(row.at("configuration").at(0).at("b") == R"("CL")");
    CHECK(row.at("losses").at("by") == "layer-tokens");
    CHECK(row.at("losses").at("loss") == "training");
    CHECK(row.at("losses").at("at_equal_cost").size() == 10);
    CHECK(row.at("losses").at("at_equal_cost").at(9).at("difference") == 3);
    CHECK(row.at("losses").at("loss_of_a").at("paid_by_other").is_null());
    CHECK(row.at("losses").at("loss_of_a").at("paid_by_it") == 1000);
    const Json& score = row.at("scores").at(0);
    CHECK(score.at("a") == Json::array({1.5, 2.0, 2.5}));
    CHECK(score.at("verdict") == "worse");
    CHECK(score.at("better") == "lower");
    CHECK(score.at("method") == "pooled");
    const Table lines = comparison_lines(comparison);
    CHECK(lines.rows.size() == 2 * (10 + 1));
    for (const auto& line : lines.rows) CHECK(line.size() == lines.columns.size());
    const std::string page = without_script(render_comparison_page(comparison));
    CHECK(page == without_script(render_comparison_page(comparison)));
    CHECK_THAT(page, ContainsSubstring("id=\"loss-at-equal-cost-1-title\"") &&
                         ContainsSubstring("id=\"loss-at-equal-cost-2-title\""));
    CHECK_THAT(page, ContainsSubstring("A: plain[budget_fraction=1.0]"));
    CHECK(page.find("<script") == std::string::npos);
}
