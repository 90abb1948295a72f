// Losses of two recipes where they have cost the same, by hand.

#include "reporting/analysis/compare/equal_cost.h"
#include "reporting/views/render/figure.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/attempts.h"

using namespace deft;
using namespace deft::reporting;
using results_db::TrialCurve;

namespace {

// A trial's curve: at step i it has paid i * `tokens` tokens, and lost the i-th loss.
TrialCurve a_curve(const std::vector<double>& losses, std::int64_t tokens) {
    TrialCurve curve;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        journal::TrainPoint point;
        point.step = static_cast<std::int64_t>(i) + 1;
        point.layer_tokens = point.step * tokens;
        point.input_tokens = 2 * point.layer_tokens;
        point.flops = 3.0 * static_cast<double>(point.layer_tokens);
        point.wall_ms = 1000 * point.step;
        point.loss = losses[i];
        curve.points.push_back(point);
    }
    return curve;
}

struct Rows {
    std::vector<Trial> trials;
    Row row;
    Curves curves;

    explicit Rows(const char* name, const std::vector<TrialCurve>& of_seeds) {
        for (std::size_t i = 0; i < of_seeds.size(); ++i) {
            trials.push_back(a_finished_trial(name, "{}", static_cast<std::int64_t>(i) + 1, 1));
            trials.back().last_point = of_seeds[i].points.back();
            curves[trials.back().config_hash] = of_seeds[i];
        }
        row.recipe = row.name = name;
        for (const Trial& trial : trials) {
            row.trials.push_back(&trial);
            row.ok.push_back(&trial);
        }
    }
};

}  // namespace

// Computed by hand at the last cost: A 4, 5, 6 and B 2, 3, 4: -2, error sqrt(2/3), 4 degrees, t = 2.776445.
TEST_CASE("curves are compared at costs that all seeds have, with Welch's interval over the seeds") {
    const std::vector<LossCurve> a = {{{0, 8}, {10, 4}}, {{0, 9}, {10, 5}}, {{1, 9.6}, {10, 6}}},
                                 b = {{{0, 6}, {10, 2}}, {{0, 7}, {10, 3}}, {{0, 8}, {20, 0}}};
    const EqualCost at = at_equal_cost(a, b, 4);
    REQUIRE(at.rows.size() == 4);
    CHECK(at.rows.front().paid == 1);
    CHECK(at.rows[1].paid == Approx(4));
    CHECK(at.rows.back().paid == 10);
    CHECK(at.rows.back().a == Approx(5));
    CHECK(at.rows.back().b == Approx(3));
    CHECK(at.rows.back().difference == Approx(-2));
    REQUIRE(at.rows.back().interval);
    CHECK(at.rows.back().interval->low == Approx(-2 - 2.776445 * std::sqrt(2.0 / 3)));
    CHECK(at.rows.back().interval->high == Approx(-2 + 2.776445 * std::sqrt(2.0 / 3)));
    // Two seeds of a side give no interval.
    CHECK_FALSE(at_equal_cost({a[0], a[1]}, b, 4).rows.back().interval);
    CHECK_FALSE(at_equal_cost(a, {b[0], b[1]}, 4).rows.back().interval);
    CHECK_THROWS_AS(at_equal_cost(a, b, 1), Error);
}

// Computed by hand: A's mean ends at 4, for which it pays 8 as B's pays sqrt(2 * 8) = 4, halfway in the logarithm.
TEST_CASE("what either side pays for the loss with which one ends is read off both means by one rule") {
    const std::vector<LossCurve> a = {{{2, 9}, {8, 3}}, {{2, 7}, {8, 5}}}, b = {{{2, 6}, {8, 2}}};
    const EqualCost at = at_equal_cost(a, b, 4);
    CHECK(at.of_a->loss == Approx(4));
    CHECK(at.of_a->paid_by_it == Approx(8));
    CHECK(*at.of_a->paid_by_other == Approx(4));
    CHECK(at.of_b->loss == 2);
    CHECK(at.of_b->paid_by_it == 8);
    CHECK_FALSE(at.of_b->paid_by_other);
    // The loss that a noisy curve ends with it may have had before, and that is what it pays: beside itself a row pays
    // all of it.
    const std::vector<LossCurve> noisy = {{{1, 5}, {2, 3}, {3, 4}, {4, 3.6}}, {{1, 5}, {2, 4}, {3, 3}, {4, 3.6}}};
    const EqualCost itself = at_equal_cost(noisy, noisy, 4);
    CHECK(itself.of_a->paid_by_it < 4);
    CHECK(*itself.of_a->paid_by_other == itself.of_a->paid_by_it);
}

// Worked out by hand: A ends with 2.9, 3.0 and 3.1. B falls by 1 from 1 to 10 in the logarithm, with 3.9, 4.0 and 4.1
// at 1: it has A's mean at 10, and Welch's half width is 0.2267 of 4 degrees, so that the range is 10^0.7733 to
// beyond 10.
TEST_CASE("the cost of the other's loss has the interval of Welch's test, from three seeds on") {
    const auto side = [](double first, double last, double at) {
        std::vector<LossCurve> curves;
        for (const double seed : {-0.1, 0.0, 0.1}) curves.push_back({{1, first + seed}, {at, last + seed}});
        return curves;
    };
    const EqualCost at = at_equal_cost(side(5, 3, 10), side(4, 3, 10), 4);
    REQUIRE(at.of_a->range);
    CHECK(*at.of_a->paid_by_other == Approx(10));
    CHECK(*at.of_a->range->from == Approx(std::pow(10, 1 - 0.226696)).epsilon(1e-3));
    CHECK_FALSE(at.of_a->range->to);
    const EqualCost beyond = at_equal_cost(side(5, 3, 10), side(4, 2, 100), 4);
    CHECK(*beyond.of_a->range->to == Approx(std::pow(10, 1 + 0.226696)).epsilon(1e-3));
    const EqualCost never = at_equal_cost(side(5, 1, 10), side(4, 3, 10), 4);
    CHECK_FALSE(never.of_a->paid_by_other);
    REQUIRE(never.of_a->range);
    CHECK_FALSE(never.of_a->range->from);
    auto two = side(5, 3, 10);
    two.pop_back();
    CHECK_FALSE(at_equal_cost(two, side(4, 3, 10), 4).of_a->range);
    CHECK_FALSE(at_equal_cost(side(4, 3, 10), two, 4).of_a->range);
}

TEST_CASE("thinned training curves are not compared, and their validations keep their own step") {
    TrialCurve whole = a_curve(std::vector<double>(40, 2.0), 100), thinned = whole;
    std::erase_if(thinned.points, [](const journal::TrainPoint& point) { return point.step % 4 == 2; });
    const auto compared = [](const TrialCurve& one, const TrialCurve& other) {
        const Rows a("a", {one}), b("b", {other});
        return compared_curves(a.row, a.curves, b.row, b.curves, Cost::layer_tokens);
    };
    CHECK(compared(whole, whole).missing.empty());
    CHECK_THAT(compared(whole, thinned).missing, ContainsSubstring("the training curves of b are thinned"));
    CHECK_THAT(compared(thinned, whole).missing, ContainsSubstring("the training curves of a are thinned"));
    for (TrialCurve* curve : {&whole, &thinned}) curve->validation_losses = {{10, 3}, {40, 2}};
    const ComparedCurves validated = compared(whole, thinned);
    CHECK(validated.is_validation);
    CHECK(validated.a[0].front().consumed == 1000);
    CHECK(validated.b[0].front().consumed == 1000);  // between the logged steps 9 and 11
    // A validation between two logged steps thins nothing.
    TrialCurve every_ten;
    for (const std::int64_t step : {10, 20, 25, 30, 40, 45}) {
        every_ten.points.push_back(whole.points[static_cast<std::size_t>(std::min<std::int64_t>(step, 40)) - 1]);
        every_ten.points.back().step = step;
        every_ten.points.back().layer_tokens = 100 * step;
    }
    every_ten.validation_losses = {{25, 3}};
    CHECK(compared(every_ten, every_ten).missing.empty());
}

TEST_CASE("curves that have no cost in common are not compared, those that meet are compared there") {
    CHECK_THAT(at_equal_cost({{{1, 3}, {2, 2}}}, {{{3, 3}, {4, 2}}}, 10).missing,
               ContainsSubstring("end before others begin"));
    CHECK(at_equal_cost({{{1, 3}, {2, 2}}}, {{{3, 3}, {4, 2}}}, 10).rows.empty());
    const EqualCost met = at_equal_cost({{{1, 3}, {2, 2}}}, {{{2, 5}, {4, 2}}}, 10);
    REQUIRE(met.rows.size() == 1);
    CHECK(met.rows[0].paid == 2);
    CHECK(met.rows[0].difference == 3);
}

TEST_CASE("training losses are averaged over the last twentieth of what the shorter side paid") {
    std::vector<double> a(100), b(40, 1.0);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i + 1);
    const Rows of_a("a", {a_curve(a, 10)}), of_b("b", {a_curve(b, 10)});
    // A twentieth of 400 tokens is two steps.
    const ComparedCurves curves = compared_curves(of_a.row, of_a.curves, of_b.row, of_b.curves, Cost::layer_tokens);
    CHECK_FALSE(curves.is_validation);
    REQUIRE(curves.a.size() == 1);
    CHECK(curves.a[0].front().consumed == 20);
    CHECK(curves.a[0].front().loss == Approx(1.5));
    CHECK(curves.a[0].back().consumed == 1000);
    CHECK(curves.a[0].back().loss == Approx(99.5));
    CHECK(curves.a[0].size() == 99);
    const EqualCost at = at_equal_cost(curves);
    REQUIRE(at.rows.size() == 10);
    CHECK(at.rows.front().paid == 20);
    CHECK(at.rows.back().paid == 400);
    CHECK(at.rows.back().a == Approx(39.5));
}

TEST_CASE("the same curves by every cost") {
    TrialCurve curve = a_curve({4, 3, 2}, 100);
    const auto last_cost = [&](Cost by, std::optional<double> usd) {
        Rows a("a", {curve}), b("b", {curve});
        for (Rows* rows : {&a, &b}) rows->trials[0].usd = usd;
        const ComparedCurves curves = compared_curves(a.row, a.curves, b.row, b.curves, by);
        REQUIRE(curves.missing.empty());
        return curves.a[0].back().consumed;
    };
    CHECK(last_cost(Cost::layer_tokens, {}) == 300);
    CHECK(last_cost(Cost::tokens, {}) == 600);
    CHECK(last_cost(Cost::flops, {}) == 900);
    CHECK(last_cost(Cost::seconds, {}) == 3);
    CHECK(last_cost(Cost::usd, 6.0) == Approx(6));
    Rows a("a", {curve}), b("b", {curve});
    a.trials[0].usd = 6.0;
    CHECK(compared_curves(a.row, a.curves, a.row, a.curves, Cost::usd).a[0].front().consumed == Approx(2));
    CHECK_THAT(compared_curves(a.row, a.curves, b.row, b.curves, Cost::usd).missing,
               ContainsSubstring("b has no price: set [price]"));
    b.trials[0].usd = 0;
    CHECK_THAT(compared_curves(a.row, a.curves, b.row, b.curves, Cost::usd).missing,
               ContainsSubstring("b has no price"));
    CHECK(std::string(words_of(Cost::usd).name) == "usd");
    CHECK(std::string(words_of(Cost::layer_tokens).name) == "layer-tokens");
}

TEST_CASE("validations on the way are compared where every seed has them, at what had been paid by then") {
    TrialCurve validated = a_curve({4, 3, 2, 1}, 100);
    validated.validation_losses = {{2, 3.5}, {4, 1.5}};
    TrialCurve once = a_curve({4, 3, 2, 1}, 100);
    once.validation_losses = {{4, 1.5}};
    const Rows a("a", {validated, validated}), b("b", {validated}), c("c", {validated, once});
    const ComparedCurves both = compared_curves(a.row, a.curves, b.row, b.curves, Cost::layer_tokens);
    CHECK(both.is_validation);
    REQUIRE(both.a.size() == 2);
    REQUIRE(both.a[1].size() == 2);
    CHECK(both.a[1][0].consumed == 200);
    CHECK(both.a[1][0].loss == 3.5);
    CHECK(both.a[1][1].consumed == 400);
    CHECK_FALSE(compared_curves(a.row, a.curves, c.row, c.curves, Cost::layer_tokens).is_validation);
    CHECK_FALSE(compared_curves(c.row, c.curves, a.row, a.curves, Cost::layer_tokens).is_validation);
}

TEST_CASE("seconds and dollars are not compared across slots, or under different CPU contention") {
    const TrialCurve curve = a_curve({4, 3, 2}, 100);
    const auto missing = [&](Cost by, const char* processor, double computed) {
        Rows a("a", {curve}), b("b", {curve});
        for (Rows* rows : {&a, &b}) {
            auto attempt = an_attempt_on({"cpu", 1, 1, 1}, {10, 0, 0, 0, 0}, rows == &b ? processor : "Example CPU");
            attempt.cpu_seconds = rows == &b ? computed : 9.9;
            add_attempt(rows->trials[0], attempt);
            rows->trials[0].usd = 6.0;
        }
        return compared_curves(a.row, a.curves, b.row, b.curves, by).missing;
    };
    for (const Cost by : {Cost::seconds, Cost::usd}) {
        CHECK(missing(by, "Example CPU", 9.9).empty());
        CHECK_THAT(missing(by, "Another CPU", 9.9), ContainsSubstring("compare only within one worker shape"));
        CHECK_THAT(missing(by, "Example CPU", 5), ContainsSubstring("CPU contention"));
    }
    CHECK(missing(Cost::flops, "Another CPU", 5).empty());
}

TEST_CASE("losses that are no numbers are no points, and a side without a curve is missing") {
    TrialCurve broken = a_curve({4, NAN, 2, INFINITY, 1}, 100);
    const Rows a("a", {broken}), none("none", {a_curve({4}, 100)});
    const ComparedCurves curves = compared_curves(a.row, a.curves, a.row, a.curves, Cost::layer_tokens);
    REQUIRE(curves.a[0].size() == 3);
    CHECK(curves.a[0][1].consumed == 300);
    CHECK_THAT(compared_curves(a.row, a.curves, none.row, none.curves, Cost::tokens).missing,
               ContainsSubstring("none has no curve"));
    CHECK_THAT(compared_curves(a.row, {}, a.row, a.curves, Cost::tokens).missing, ContainsSubstring("a has no curve"));
    Rows unfinished("late", {broken});
    unfinished.row.ok.clear();
    CHECK_THAT(compared_curves(a.row, a.curves, unfinished.row, unfinished.curves, Cost::tokens).missing,
               ContainsSubstring("no seed of late has finished"));
    CHECK(at_equal_cost(compared_curves(a.row, {}, a.row, {}, Cost::tokens)).rows.empty());
}

TEST_CASE("trials that nest in one seed are one curve, their mean") {
    Rows a("a", {a_curve({4, 3, 2}, 100), a_curve({6, 5, 4}, 100), a_curve({1, 1, 1}, 100)}),
        b("b", {a_curve({4, 3, 2}, 100)});
    const char* const seeds[] = {"1.1", "1.2", "2.1"};
    for (std::size_t i = 0; i < 3; ++i) a.trials[i].seeds = seeds[i];
    const ComparedCurves curves = compared_curves(a.row, a.curves, b.row, b.curves, Cost::layer_tokens);
    REQUIRE(curves.a.size() == 2);
    CHECK(curves.a[0].back().loss == 3);
    CHECK(curves.a[1].back().loss == 1);
}

TEST_CASE("losses of other data are not compared, nor is a model that was imported") {
    const TrialCurve curve = a_curve({4, 3, 2}, 100);
    Rows a("a", {curve}), b("b", {curve});
    b.trials[0].dataset_sha256 = "another";
    CHECK_THAT(compared_curves(a.row, a.curves, b.row, b.curves, Cost::tokens).missing,
               ContainsSubstring("different data"));
    b.trials[0].imported = results_db::ImportedModel{};
    CHECK_THAT(compared_curves(a.row, a.curves, b.row, b.curves, Cost::tokens).missing,
               ContainsSubstring("b was imported"));
}

TEST_CASE("compared losses exclude the load-balancing loss of experts") {
    TrialCurve experts = a_curve({4, 3, 2}, 100);
    for (journal::TrainPoint& point : experts.points) {
        point.head_names = {"tokens", "expert balance", "gate z"};
        point.head_losses = {point.loss - 0.75, 0.5, 0.25};
    }
    TrialCurve heads = a_curve({4, 3, 2}, 100);
    for (journal::TrainPoint& point : heads.points) {
        point.head_names = {"masked tokens", "order"};
        point.head_losses = {point.loss - 1, 1};
    }
    const Rows a("a", {experts}), b("b", {heads});
    const ComparedCurves curves = compared_curves(a.row, a.curves, b.row, b.curves, Cost::tokens);
    CHECK(curves.a[0].back().loss == Approx(1.25));
    CHECK(curves.b[0].back().loss == Approx(2));
}

// Worked out by hand: 1, 2 and 3 at the end: mean 2, deviation 1, t(97.5%, 2) = 4.302653: 2 +- 2.484138.
TEST_CASE("the picture's bands are Student's intervals of the means over three seeds or more") {
    ComparedCurves curves;
    curves.a = {{{0, 2}, {10, 1}}, {{0, 4}, {10, 3}}, {{0, 3}, {10, 2}}};
    curves.b = {{{0, 2}, {5, 1}}, {{0, 2}, {5, 3}}};
    const Figure figure = equal_cost_figure(curves, "one", "two");
    REQUIRE(figure.series.size() == 2);
    const CurvePoint& last = figure.series[0].points.back();
    CHECK(last.x == 10);
    CHECK(last.y == Approx(2));
    CHECK(last.low == Approx(2 - 2.484138).epsilon(1e-5));
    CHECK(last.high == Approx(2 + 2.484138).epsilon(1e-5));
    CHECK(figure.series[1].points.back().x == 5);
    CHECK(figure.series[1].points.back().low == figure.series[1].points.back().high);  // two seeds have no band
    CHECK_THAT(description(figure), ContainsSubstring("with the 95% interval of the mean as a band"));
}
