// Histories whose changes are known, over many series at once.

#include "reporting/analysis/trend/trend_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/reporting/statistics/ten_sessions.h"

using namespace deft;
using namespace deft::reporting;

namespace {

constexpr std::int64_t kDayMs = 86'400'000;

BenchSeries a_series(const std::vector<double>& seconds, const std::string& name = "sum") {
    BenchSeries series{name, name + " (cpu)", "node1", {}};
    for (std::size_t i = 0; i < seconds.size(); ++i)
        series.points.push_back({static_cast<std::int64_t>(i) * kDayMs, seconds[i], 5, "0123456789abcdef"});
    return series;
}

TrendFinding found_in(const std::vector<double>& seconds) {
    const auto findings = check_trend(std::vector{a_series(seconds)});
    REQUIRE(findings.size() == 1);
    return findings[0];
}

}  // namespace

// Two levels of 3 and 4 sessions with a jitter of 0.1%: the means are 100 and 110.05.
TEST_CASE("a clean step is worse up and better down") {
    const std::vector<double> up = {100.1, 99.9, 100, 110, 110.1, 109.9, 110.2};
    const TrendFinding finding = found_in(up);
    CHECK(finding.judged.finding.outcome == Outcome::worse);
    CHECK(*finding.judged.finding.effect == Approx(std::log(1.1005)));
    CHECK(*finding.judged.finding.limit == Approx(std::log(1.03)));
    CHECK(finding.level == Approx(110.05));
    CHECK_THAT(finding.judged.finding.text, ContainsSubstring("1.101x slower since 1970-01-04 (commit 0123456789ab), 4 "
                                                              "sessions on the new level"));
    std::vector<double> down = up;
    for (double& value : down) value = 1 / value;
    CHECK(found_in(down).judged.finding.outcome == Outcome::better);
}

TEST_CASE("a change older than ten sessions is not reported") {
    std::vector<double> values(20, 100.0);
    values.insert(values.end(), 11, 110.0);
    const TrendFinding finding = found_in(values);
    CHECK(finding.judged.finding.outcome == Outcome::same);
    CHECK_THAT(finding.judged.finding.text, ContainsSubstring("1.100x slower since 1970-01-21"));
    values.pop_back();
    CHECK(found_in(values).judged.finding.outcome == Outcome::worse);
}

// Computed by hand: 16 and 16.2 lie beyond 13.408, which ten sessions predict; t = 6.1 / sqrt(1/10 + 1/2) = 7.875 at 9
// degrees.
TEST_CASE("two sessions in a row beyond the prediction are reported before a change point can be") {
    std::vector<double> values = ten_sessions();
    values.insert(values.end(), {16, 16.2});
    const TrendFinding finding = found_in(values);
    CHECK(finding.judged.finding.outcome == Outcome::worse);
    CHECK(*finding.judged.finding.effect == Approx(std::log(1.61)));
    CHECK(*finding.judged.p_value == Approx(2.5e-5).epsilon(0.05));
    CHECK_THAT(finding.judged.finding.text, ContainsSubstring("the latest 2 sessions are 1.610x slower"));
    values.back() = 10;
    CHECK(found_in(values).judged.finding.outcome == Outcome::same);  // one alone
}

TEST_CASE("a steady series that moves less than the smallest change is the same") {
    std::vector<double> values(30, 100.0);
    values.insert(values.end(), {102, 102});
    CHECK(found_in(values).judged.finding.outcome == Outcome::same);
    values[30] = values[31] = 104;
    CHECK(found_in(values).judged.finding.outcome == Outcome::worse);
}

TEST_CASE("too few sessions are missing, senseless times broken") {
    const TrendFinding few = found_in({1, 1, 1, 2, 2});
    CHECK(few.judged.finding.outcome == Outcome::missing);
    CHECK_THAT(few.judged.finding.text, ContainsSubstring("5 sessions: 6 are the fewest"));
    CHECK(exit_code_of(trend_report(std::vector{few}), true) == kExitNothing);
    CHECK(found_in({1, 1, 1, 0, 1, 1}).judged.finding.outcome == Outcome::broken);
    CHECK(found_in({1, 1, 1, INFINITY, 1, 1}).judged.finding.outcome == Outcome::broken);
    CHECK(exit_code_of(trend_report(check_trend({})), false) == kExitNothing);
}

TEST_CASE("a series that has ended gives no news") {
    std::vector<BenchSeries> series = {a_series({100, 100, 100, 110, 110, 110}), a_series({1, 1, 1, 1, 1, 1}, "max")};
    CHECK(check_trend(series).size() == 2);
    for (SessionPoint& point : series[1].points) point.started_ms += 40 * kDayMs;
    const auto findings = check_trend(series);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].judged.finding.name == "max (cpu)");
}

// A step of two and a half deviations: alone it is news, among a thousand series it may be any of them.
TEST_CASE("what one of many series shows may be chance") {
    std::vector<double> weak;
    std::mt19937_64 random(3);
    for (int attempt = 0; weak.empty() && attempt < 1000; ++attempt) {
        std::normal_distribution<double> normal(100, 2);
        std::vector<double> values;
        for (int i = 0; i < 25; ++i) values.push_back(normal(random) + (i >= 21 ? 5 : 0));
        const SeriesTrend trend = series_trend(values);
        if (trend.news && trend.p_value > 1e-4) weak = values;
    }
    REQUIRE(!weak.empty());
    CHECK(found_in(weak).judged.finding.outcome == Outcome::worse);
    std::vector<BenchSeries> many(1000, a_series(std::vector<double>(25, 7.0), "max"));
    many.push_back(a_series(weak));
    const auto findings = check_trend(many);
    CHECK(findings.back().judged.finding.outcome == Outcome::unclear);
    CHECK_THAT(findings.back().judged.finding.text, ContainsSubstring("it may be chance"));
    const Table quiet = trend_table(findings, {}, false), all = trend_table(findings, {}, true);
    CHECK(quiet.rows.size() == 1);
    CHECK(all.rows.size() == 1001);
}

namespace {

struct LookRates {
    double looks_with_alarm = 0;  // share of looks at which any unchanged series was called different
    double alarms_a_series = 0;
    double detected = 0;  // share of changed series called worse
};

// Looks at 100 series of 60 sessions, 5 of which became slower `ago` sessions before the end; noise a session of
// `white` and in 3 of 100 sessions a spike of up to 20%.
LookRates look_rates(int looks, double white, double ratio, int ago, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    LookRates rates;
    const int changed = 5, all = 100, sessions = 60;
    for (int look = 0; look < looks; ++look) {
        std::vector<BenchSeries> series;
        for (int k = 0; k < all; ++k) {
            std::vector<double> values;
            for (int i = 0; i < sessions; ++i) {
                double value = 1e-3 * (1 + white * normal(random));
                if (k < changed && i >= sessions - ago) value *= ratio;
                if (uniform(random) < 0.03) value *= 1 + 0.2 * uniform(random);
                values.push_back(value);
            }
            series.push_back(a_series(values));
        }
        const auto findings = check_trend(series);
        int alarms = 0;
        for (int k = 0; k < all; ++k) {
            const Outcome outcome = findings[static_cast<std::size_t>(k)].judged.finding.outcome;
            if (k < changed && ratio != 1)
                rates.detected += outcome == Outcome::worse;
            else
                alarms += outcome == Outcome::worse || outcome == Outcome::better;
        }
        rates.alarms_a_series += alarms;
        rates.looks_with_alarm += alarms > 0;
    }
    rates.looks_with_alarm /= looks;
    rates.alarms_a_series /= looks * (ratio != 1 ? all - changed : all);
    rates.detected /= looks * changed;
    return rates;
}

}  // namespace

// Measured over 60 looks, with spikes: at a noise of 1% a session, steps of 5% were found in 35, 39, 67 and 76% of the
// series after 2, 3, 5 and 8 sessions, steps of 10% in 91 to 93%. With the Welch's p that finds the places instead, 38%
// of the looks at 3% raised an alarm.
TEST_CASE("over a hundred series false alarms are rare and changes are found", "[slow]") {
    // The note of each report says how often chance alone raises an alarm: here with three standard errors.
    const int enough = 200;
    const double most = kMostChanceNews + 3 * std::sqrt(kMostChanceNews / enough);
    const double at_its_worst = look_rates(enough, 0.05, 1, 0, 13).looks_with_alarm;
    std::printf("noise 5%%: of %d looks %.3f raised an alarm\n", enough, at_its_worst);
    CHECK(at_its_worst <= most);
    CHECK(at_its_worst >= kLeastChanceNews / 2);
    CHECK_THAT(trend_table({}, {}, false).notes.back(),
               ContainsSubstring("reported in 4 to 12% of looks at a hundred"));

    const int looks = 12;
    for (const double white : {0.01, 0.03}) {
        const LookRates none = look_rates(looks, white, 1, 0, 11);
        std::printf("noise %.0f%%: of %d looks at 100 unchanged series %.3f raised an alarm; %.5f a series\n",
                    100 * white, looks, none.looks_with_alarm, none.alarms_a_series);
        CHECK(none.looks_with_alarm <= 0.2);
        CHECK(none.alarms_a_series <= 0.002);
    }
    const auto found = [&](double ratio, int ago) {
        const LookRates rates = look_rates(looks, 0.01, ratio, ago, 12);
        std::printf("noise 1%%, step %.0f%%: after %d sessions %.3f found; alarms a series %.5f\n", 100 * (ratio - 1),
                    ago, rates.detected, rates.alarms_a_series);
        CHECK(rates.alarms_a_series <= 0.002);
        return rates.detected;
    };
    CHECK(found(1.05, 8) > 0.6);
    CHECK(found(1.1, 2) > 0.75);
    CHECK(found(1.1, 5) > 0.8);
}
