// The drawn samples, as a figure and a table of the page.

#include "reporting/analysis/curves/curves.h"

#include "reporting/views/page/page.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft::reporting;
using deft::results_db::SamplingPoint;
using deft::results_db::TrialCurve;

namespace {

ReportData drawn_report(bool growing) {
    ReportData data;
    data.sweep = a_sweep_of(
        {a_finished_trial("base", "{}", 1, 3), a_finished_trial("cl", "{}", 1, 3), a_finished_trial("cl", "{}", 2, 3)});
    for (const auto& trial : data.sweep.trials) {
        TrialCurve& curve = data.curves[trial.config_hash];
        for (std::int64_t step = 10; step <= 50; step += 10) {
            const std::int64_t pool = growing && trial.recipe == "cl" ? 100 + step * trial.seed : 1000;
            curve.sampling.push_back({step, pool, step * 8, step * trial.seed, 7, 3});
        }
        curve.epochs = {2.5, 0.5 * static_cast<double>(trial.seed)};
    }
    return data;
}

}  // namespace

TEST_CASE("samples admitted are drawn as means over seeds where they grow") {
    const ReportData data = drawn_report(true);
    const auto rows = rows_of(data.sweep);
    const std::vector<Figure> figures = pool_figures(rows, data.curves);
    REQUIRE(figures.size() == 1);
    REQUIRE(figures[0].series.size() == 2);
    CHECK(figures[0].series[0].name == "base");
    CHECK(figures[0].series[1].style == 1);
    const CurvePoint last = figures[0].series[1].points.back();
    CHECK(last.x == 50);
    CHECK(last.y == 175);
    CHECK(last.low == 150);
    CHECK(last.high == 200);
    CHECK(pool_figures(rows_of(drawn_report(false).sweep), drawn_report(false).curves).empty());
    CHECK(pool_figures(rows, {}).empty());
}

TEST_CASE("draws, repeats and epochs by difficulty are a row each of the page") {
    const ReportData data = drawn_report(true);
    const Table table = draws_table(rows_of(data.sweep), data.curves);
    REQUIRE(table.rows.size() == 2);
    REQUIRE(table.columns.size() == 8);
    const auto& cl = table.rows[1];
    CHECK(cl[0].text == "cl");
    CHECK(*cl[1].value == 175);
    CHECK(*cl[2].value == 400);
    CHECK(*cl[3].value == 75);
    CHECK(*cl[4].value == 7);
    CHECK(*cl[5].value == 3);
    CHECK(*cl[6].value == 2.5);
    CHECK(*cl[7].value == 0.75);
    CHECK(draws_table(rows_of(data.sweep), {}).rows.empty());
    const std::string page = render_page(data);
    CHECK_THAT(page, ContainsSubstring("<h2 id=\"draws\">What was drawn</h2>") &&
                         ContainsSubstring("Samples admitted by step"));
    ReportData silent = data;
    silent.curves.clear();
    CHECK(render_page(silent).find("id=\"draws\"") == std::string::npos);
}

TEST_CASE("a recipe has one colour in every figure, whatever else is drawn there") {
    ReportData data = drawn_report(true);
    // The baseline logged no draws, and the loss curves have it.
    data.curves[data.sweep.trials[0].config_hash].sampling.clear();
    for (auto& [hash, curve] : data.curves) {
        deft::journal::TrainPoint point;
        point.step = 1;
        point.loss = 3;
        curve.points = {point};
    }
    const auto rows = rows_of(data.sweep);
    const Figure pool = pool_figures(rows, data.curves).at(0), loss = curve_figures(rows, data.curves).at(0);
    REQUIRE(pool.series.size() == 1);
    CHECK(pool.series[0].name == "cl");
    REQUIRE(loss.series.size() == 2);
    CHECK(pool.series[0].style == loss.series[1].style);
}
