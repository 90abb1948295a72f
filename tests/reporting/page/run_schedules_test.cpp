// Schedules as a run had them, and validation losses on the way.

#include "reporting/views/page/run_schedules.h"

#include "reporting/views/page/validation_curves.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft::reporting;
using deft::reporting::Trial;

namespace {

struct Run {
    deft::reporting::Results sweep;
    Curves curves;
};

// Four layers of which the inner two drop: kept 16 to 64 of a length that grows from 32 to 64.
Run a_run() {
    Run run;
    run.sweep = a_sweep_of({a_finished_trial("base", kFullBudget, 1, 3), a_finished_trial("ltd", kHalfBudget, 1, 3),
                            a_finished_trial("ltd", kFullBudget, 1, 3)});
    for (Trial& trial : run.sweep.trials) {
        const bool drops = trial.recipe == "ltd";
        set_configuration(trial, drops ? R"({"model":{"layers":4,"seqlen":64},"random_ltd":{"layers":[1,2]}})"
                                       : R"({"model":{"layers":4,"seqlen":64}})");
        auto& curve = run.curves[trial.config_hash];
        const std::int64_t steps = trial.axes_json == kHalfBudget ? 2 : 4;
        for (std::int64_t step = 1; step <= steps; ++step) {
            deft::journal::TrainPoint point;
            point.step = 10 * step;
            point.layer_tokens = 100 * step;
            point.flops = 1e6 * static_cast<double>(step);
            point.seqlen = drops && step <= 2 ? 32 : 64;
            point.kept_tokens = drops ? 16 * step : 64;
            curve.points.push_back(point);
        }
    }
    return run;
}

}  // namespace

TEST_CASE("each recipe's length is drawn at its largest budget, at the steps where it changes") {
    const Run run = a_run();
    const auto figures = length_figures(rows_of(run.sweep), run.curves);
    REQUIRE(figures.size() == 1);
    REQUIRE(figures[0].series.size() == 2);
    CHECK(figures[0].series[0].name == "base 100%");
    CHECK(figures[0].series[0].points.size() == 2);
    const Series& ltd = figures[0].series[1];
    CHECK(ltd.name == "ltd 100%");
    CHECK(ltd.dash == 1);
    REQUIRE(ltd.points.size() == 4);
    CHECK(ltd.points[1].x == 20);
    CHECK(ltd.points[1].y == 32);
    CHECK(ltd.points[2].y == 64);
    Run even = a_run();
    for (auto& [hash, curve] : even.curves)
        for (auto& point : curve.points) point.seqlen = 64;
    CHECK(length_figures(rows_of(even.sweep), even.curves).empty());
    CHECK(length_figures({}, {}).empty());
}

TEST_CASE("layers that drop tokens take the kept ones, the others whole samples") {
    const Run run = a_run();
    const auto maps = kept_maps(rows_of(run.sweep), run.curves);
    REQUIRE(maps.size() == 1);
    CHECK(maps[0].title == "Tokens that each layer takes: ltd 100%");
    REQUIRE(maps[0].rows.size() == 4);
    CHECK(maps[0].rows[0].cells == std::vector<double>{32, 32, 64, 64});
    CHECK(maps[0].rows[1].cells == std::vector<double>{16, 32, 48, 64});
    CHECK(maps[0].rows[2].cells == maps[0].rows[1].cells);
    CHECK(maps[0].rows[3].cells == maps[0].rows[0].cells);
    CHECK(maps[0].rows[1].aside == "16 to 64");
    CHECK(maps[0].to == 64);
    CHECK(maps[0].columns == std::vector<std::string>{"10", "20", "30", "40"});

    Run longer = a_run();
    for (auto& [hash, curve] : longer.curves) {
        curve.points.resize(1);
        for (std::int64_t step = 2; step <= 120; ++step) {
            curve.points.push_back(curve.points.front());
            curve.points.back().step = step * 10;
            curve.points.back().kept_tokens = step % 2 == 0 ? 20 : 1000;  // more than the length has
        }
    }
    const auto many = kept_maps(rows_of(longer.sweep), longer.curves);
    REQUIRE(many[0].rows[1].cells.size() == 60);
    CHECK(many[0].rows[1].cells[5] == 26);
    CHECK(many[0].columns.back() == "1200");
    CHECK_THAT(schedules_html(rows_of(run.sweep), run.curves, "-a", ""),
               ContainsSubstring("<h2 id=\"schedules-a\">") && ContainsSubstring("Length of a sample by step") &&
                   ContainsSubstring("Tokens that each layer takes: ltd 100%"));
    CHECK(schedules_html({}, {}, "", "").empty());
}

TEST_CASE("validation losses on the way are means over seeds where all of them were validated") {
    Run run;
    run.sweep = a_sweep_of({a_finished_trial("base", "{}", 1, 3), a_finished_trial("base", "{}", 2, 3),
                            a_finished_trial("cl", "{}", 1, 3)});
    for (const Trial& trial : run.sweep.trials) {
        auto& curve = run.curves[trial.config_hash];
        for (std::int64_t step = 1; step <= 4; ++step) {
            deft::journal::TrainPoint point;
            point.step = step;
            point.layer_tokens = 100 * step;
            point.flops = 1e6 * static_cast<double>(step);
            curve.points.push_back(point);
            if (step < 4 || trial.seed == 1)
                curve.validation_losses.emplace_back(
                    step, 5.0 - static_cast<double>(step) + 0.5 * static_cast<double>(trial.seed));
        }
    }
    const auto figures = validation_figures(rows_of(run.sweep), run.curves);
    REQUIRE(figures.size() == 2);
    REQUIRE(figures[0].series.size() == 2);
    const Series& base = figures[0].series[0];
    REQUIRE(base.points.size() == 3);
    CHECK(base.points[1].x == 200);
    CHECK(base.points[1].y == 3.75);
    CHECK(base.points[1].low == 3.5);
    CHECK(base.points[1].high == 4);
    CHECK(figures[1].series[1].points.size() == 4);
    CHECK(figures[1].series[1].points[3].x == 4e6);
    CHECK(figures[1].series[1].style == 1);
    CHECK(figures[1].series[1].dash == 1);
    run.curves.at(run.sweep.trials[2].config_hash).validation_losses.resize(2);
    CHECK(validation_figures(rows_of(run.sweep), run.curves).empty());
}
