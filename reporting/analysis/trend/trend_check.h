#pragma once
// Did the level of a benchmark change recently? Over all series of a history at once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/check/check_report.h"
#include "reporting/analysis/statistics/change_points.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/analysis/trend/bench_series.h"
#include "reporting/table.h"

namespace deft::reporting {

// The thresholds, frozen before anything is measured.
struct TrendRule {
    ChangePointRule change;
    AlertRule alert;
    PredictionRule prediction;
    double false_discovery_rate = 0.05;  // among the series called better or worse
    std::int64_t idle_days = 30;         // without a session, before the newest of all: the series has ended
};
std::string rule_json(const TrendRule& rule);

// The share of looks at 100 series of 60 sessions, none of which changed, that reported one or more all the same: 4.2%
// at a noise of 1% a session, 5.6% at 2, 8.5% at 3, 11.6% at 5%, 1,500 looks each, with a spike of up to 20% in 3 of
// 100 sessions. More than the rate asks, since a place is looked for before it is tested, and spikes may follow each
// other.
inline constexpr double kLeastChanceNews = 0.04, kMostChanceNews = 0.12;

// The sessions of one series, before the other series are considered.
struct SeriesTrend {
    std::optional<ChangePoint> news;         // the latest change that is one
    std::optional<ChangePoint> last_change;  // news or older
    Departure departure = Departure::none;   // of the latest sessions, where nothing is news
    double level = 0;                        // mean since the last change, without sessions that depart
    double ratio = 1;                        // new level over old one, or the departing sessions over their level
    double p_value = 1;                      // two-sided, Student's, by the spread within levels
};

// Seconds of each session, positive and finite, oldest first. A departure is one only beyond the smallest change, as
// change points are.
SeriesTrend series_trend(std::span<const double> sessions, const TrendRule& rule = {});

struct TrendFinding {
    Judged judged;
    std::size_t sessions = 0;
    double level = 0, latest = 0;  // seconds of one run
    std::string since;             // the day and commit of the news; empty: none
};

// worse, better  a change that is news, or latest sessions beyond what those before predict; and it is significant
// given the
//                number of series (Benjamini and Hochberg)
// unclear        it does not
// same           neither
// missing        too few sessions for any change; broken: a time that is not positive and finite
// Series that have ended are left out.
std::vector<TrendFinding> check_trend(std::span<const BenchSeries> series, const TrendRule& rule = {});

CheckReport trend_report(std::span<const TrendFinding> findings);
// A row a series; without `all` only those that are not the same as ever.
Table trend_table(std::span<const TrendFinding> findings, const TrendRule& rule, bool all);

}  // namespace deft::reporting
