// Which dense model a model with experts comes to, by values worked out by hand.

#include "reporting/analysis/experts/dense_multiple.h"
#include "reporting/views/render/figure.h"

#include <fmt/format.h>

#include "reporting/views/page/page.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft::reporting;
using deft::reporting::Trial;

namespace {

using Found = DenseMultiple::Place;

SizedRow row(const char* name, double parameters, double loss, int seeds = 3) {
    SizedRow one{name, parameters, parameters, {}, 1000};
    for (int seed = 0; seed < seeds; ++seed) one.losses.push_back(loss + 0.1 * (seeds == 1 ? 0 : seed - 1));
    return one;
}

// Dense models of 1,000 and 4,000 parameters.
ExpertsAgainstDense two_dense(double small, double large, int seeds = 3) {
    ExpertsAgainstDense rows;
    rows.dense = {row("dense", 1000, small, seeds), row("dense-4x", 4000, large, seeds)};
    return rows;
}

DenseMultiple of_loss(double loss, const ExpertsAgainstDense& rows) {
    return dense_multiple(row("MoE", 9000, loss, static_cast<int>(rows.dense[0].losses.size())), rows);
}

Trial trial(const char* recipe, std::int64_t parameters, std::int64_t seed, double loss, bool experts) {
    Trial one = a_finished_trial(recipe, "{}", seed, loss);
    one.parameters = parameters;
    one.active_parameters = experts ? parameters / 4 : parameters;
    if (experts) set_configuration(one, R"({"model":{"seqlen":64,"experts":{"count":[8]}}})");
    return one;
}

std::vector<Trial> three_rows() {
    std::vector<Trial> trials;
    for (std::int64_t seed = 1; seed <= 3; ++seed) {
        const double shift = 0.1 * static_cast<double>(seed - 2);
        trials.push_back(trial("dense", 1000, seed, 3 + shift, false));
        trials.push_back(trial("MoE", 9000, seed, 2.5 + shift, true));
        trials.push_back(trial("dense-4x", 4000, seed, 2 + shift, false));
    }
    return trials;
}

std::optional<ExpertsAgainstDense> compared_rows(const std::vector<Trial>& trials) {
    const auto sweep = a_sweep_of(trials);
    return experts_against_dense(rows_of(sweep), "dense");
}

}  // namespace

TEST_CASE("losses between two dense models are linear in the logarithm of the parameters") {
    const ExpertsAgainstDense rows = two_dense(3, 2);
    const DenseMultiple half = of_loss(2.5, rows);
    CHECK(half.place == Found::between);
    CHECK(*half.multiple == Approx(2));
    // The share 0.5 has a standard error of 0.0707107 on 4 degrees of freedom.
    REQUIRE(half.interval);
    CHECK(half.interval->low == Approx(1.523460).epsilon(1e-5));
    CHECK(half.interval->high == Approx(2.625603).epsilon(1e-5));
    CHECK(multiple_text(half, rows) == "2x [1.52x, 2.63x]");
    CHECK(*of_loss(2.25, rows).multiple == Approx(2.828427));
    CHECK(*of_loss(3, rows).multiple == Approx(1));
    CHECK(*of_loss(2, rows).multiple == Approx(4));
    CHECK(multiple_text(of_loss(2.9, rows), rows) == "1.15x [less than 1x, 1.55x]");
    CHECK_THAT(multiple_text(of_loss(2.1, rows), rows), ContainsSubstring(", more than 4x]"));
}

TEST_CASE("nothing is read beyond the dense models, nor between two of which the larger is no better") {
    const ExpertsAgainstDense rows = two_dense(3, 2);
    CHECK(of_loss(1.9, rows).place == Found::better_than_all);
    CHECK_FALSE(of_loss(1.9, rows).multiple);
    CHECK(multiple_text(of_loss(1.9, rows), rows) == "more than 4x");
    CHECK(of_loss(3.1, rows).place == Found::worse_than_all);
    CHECK(multiple_text(of_loss(3.1, rows), rows) == "less than 1x");
    const ExpertsAgainstDense upside_down = two_dense(2, 3);
    for (const double loss : {1.5, 2.5, 3.5}) CHECK(of_loss(loss, upside_down).place == Found::unknown);
    CHECK(multiple_text(of_loss(2.5, upside_down), upside_down).empty());
    CHECK(of_loss(2.5, two_dense(2.5, 2.5)).place == Found::unknown);
    ExpertsAgainstDense below = upside_down;
    below.experts = {row("MoE", 9000, 2.5)};
    CHECK_THAT(multiple_sentences(below)[0],
               ContainsSubstring("no multiple, for here the larger dense model is no better"));
}

TEST_CASE("of three sizes the neighbours count, and multiples are of the base") {
    ExpertsAgainstDense rows = two_dense(3, 2);
    rows.dense.push_back(row("dense-16x", 16000, 1));
    CHECK(*of_loss(1.5, rows).multiple == Approx(8));
    rows.base = 1;
    CHECK(*of_loss(1.5, rows).multiple == Approx(2));
    CHECK(multiple_text(of_loss(0.5, rows), rows) == "more than 4x");
    CHECK(multiple_text(of_loss(3.5, rows), rows) == "less than 0.25x");
}

TEST_CASE("no interval below three seeds of any of the rows") {
    CHECK(multiple_text(of_loss(2.5, two_dense(3, 2, 2)), two_dense(3, 2, 2)) == "2x");
    const ExpertsAgainstDense rows = two_dense(3, 2);
    CHECK_FALSE(dense_multiple(row("MoE", 9000, 2.5, 1), rows).interval);
    ExpertsAgainstDense few = rows;
    few.dense[1] = row("dense-4x", 4000, 2, 1);
    CHECK_FALSE(of_loss(2.5, few).interval);
}

TEST_CASE("a sweep's rows are sorted into dense models by size and models with experts, at equal tokens") {
    const auto rows = compared_rows(three_rows());
    REQUIRE(rows);
    REQUIRE(rows->dense.size() == 2);
    CHECK(rows->dense[0].name == "dense");
    CHECK(rows->dense[1].parameters == 4000);
    REQUIRE(rows->experts.size() == 1);
    CHECK(rows->experts[0].active_parameters == 2250);
    CHECK(rows->base == 0);
    CHECK(multiple_sentences(*rows)[0] ==
          "MoE (validation loss 2.500; 9.00k parameters, 2.25k active per token) ends as a dense model of 2x "
          "[1.52x, 2.63x] the "
          "parameters of dense would, by dense models of 1.00k to 4.00k.");

    auto trials = three_rows();
    for (Trial& one : trials)
        if (one.recipe == "dense-4x") one.last_point->layer_tokens = 1020;
    CHECK_FALSE(compared_rows(trials));
    for (Trial& one : trials)
        if (one.recipe == "dense-4x") one.last_point->layer_tokens = 1005;
    CHECK(compared_rows(trials));
    for (const char* technique : {"random_ltd", "token_bypass", "curriculum", "batch_ramp", "variable_batch"}) {
        CAPTURE(technique);
        for (Trial& one : trials)
            if (one.recipe == "dense-4x")
                set_configuration(one, fmt::format(R"({{"model":{{"seqlen":64}},"{}":{{"layers":[1]}}}})", technique));
        CHECK_FALSE(compared_rows(trials));
    }
    trials = three_rows();
    for (Trial& one : trials)
        if (one.recipe == "MoE") one.state = "failed";
    CHECK_FALSE(compared_rows(trials));
    CHECK_FALSE(compared_rows({}));
    CHECK_FALSE(compared_rows({trial("dense", 1000, 1, 3, false)}));
}

TEST_CASE("rows that do not count, are stale, diverged or used other tokens are left out and reported") {
    const auto left_out = [](const auto& change) {
        auto trials = three_rows();
        for (std::int64_t seed = 1; seed <= 3; ++seed) {
            trials.push_back(trial("PR-MoE", 8000, seed, 2.4, true));
            if (seed == 2) change(trials.back());
        }
        const auto rows = compared_rows(trials);
        REQUIRE(rows);
        CHECK(rows->experts.size() == (rows->left_out.empty() ? 2 : 1));
        return multiple_sentences(*rows).back();
    };
    CHECK_THAT(left_out([](Trial&) {}), !ContainsSubstring("Left out"));
    CHECK_THAT(left_out([](Trial& one) { one.last_point->step = 100; }),
               ContainsSubstring("Left out: PR-MoE (validation loss 2.400; it does not count as measured)."));
    CHECK_THAT(left_out([](Trial& one) {
                   one.state = "failed";
                   one.fail_class = "nan";
               }),
               ContainsSubstring("Left out: PR-MoE (validation loss 2.400; a seed diverged)."));
    CHECK_THAT(left_out([](Trial& one) { one.stale = "data: changed"; }),
               ContainsSubstring("Left out: PR-MoE (validation loss 2.400; it is stale)."));
    CHECK_THAT(left_out([](Trial& one) { one.scores.front().stale = "eval: changed"; }),
               ContainsSubstring("Left out: PR-MoE (validation loss 2.400; it is stale)."));
    CHECK_THAT(left_out([](Trial& one) { one.last_point->layer_tokens = 1100; }),
               ContainsSubstring("Left out: PR-MoE (another amount of tokens)."));
}

TEST_CASE("the figure joins the dense models and marks where a level meets them") {
    const auto rows = compared_rows(three_rows());
    REQUIRE(rows);
    const Figure figure = multiple_figure(*rows);
    REQUIRE(figure.series.size() == 2);
    CHECK(figure.log_x);
    CHECK(figure.series[0].points.size() == 2);
    const Series& level = figure.series[1];
    CHECK(level.points.front().x == 1000);
    CHECK(level.points.back().x == 4000);
    CHECK(level.points.back().y == Approx(2.5));
    REQUIRE(level.marks.size() == 1);
    CHECK(level.marks[0].x == Approx(2000));
    CHECK(level.points[0].low == Approx(2.5 - 0.248414).epsilon(1e-5));
    CHECK(figure.series[0].seeds == 3);
    ExpertsAgainstDense uneven = *rows;
    uneven.dense[1].losses.pop_back();
    CHECK(multiple_figure(uneven).series[0].seeds == 1);
    CHECK_THAT(description(figure), ContainsSubstring("an open marker on one shows where it meets"));

    ReportData data;
    data.sweep = a_sweep_of(three_rows());
    for (const Trial& one : data.sweep.trials) {
        auto& curve = data.curves[one.config_hash];
        for (std::int64_t step = 1; step <= 4; ++step) {
            deft::journal::TrainPoint point;
            point.step = step;
            point.layer_tokens = 100 * step;
            point.flops = 1e6 * static_cast<double>(step);
            point.loss = 4;
            curve.points.push_back(point);
            curve.validation_losses.emplace_back(step, 5.0 - static_cast<double>(step));
        }
    }
    const std::string page = render_page(data);
    for (const char* part :
         {"<h2 id=\"dense\">Experts against dense models</h2>", "Validation loss by consumed tokens (layer-averaged)",
          "Validation loss by FLOPs", "Which dense model a model with experts comes to"})
        CHECK_THAT(page, ContainsSubstring(part));
    CHECK_THAT(page, !ContainsSubstring("No validation losses on the way"));
    for (auto& [hash, curve] : data.curves) curve.validation_losses.resize(2);
    CHECK_THAT(render_page(data),
               ContainsSubstring("No validation losses on the way") && !ContainsSubstring("Validation loss by FLOPs"));
}
