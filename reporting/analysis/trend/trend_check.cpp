#include "reporting/analysis/trend/trend_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "reporting/analysis/statistics/case_family.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr std::int64_t kDayMs = 86'400'000;

// Student's test of a few new values against the level they should belong to; two-sided. `level`: two values or more.
double departure_p_value(std::span<const double> level, std::span<const double> latest) {
    const double n = static_cast<double>(level.size()), m = static_cast<double>(latest.size());
    const double difference = mean(latest) - mean(level);
    const double error = standard_deviation(level) * std::sqrt(1 / n + 1 / m);
    if (error == 0) return difference == 0 ? 1 : 0;
    return student_t_p_value(difference / error, n - 1);
}

// Student's test of the news against the level before it, by the spread within all levels of the series. Welch's, by
// which the place was found, takes three sessions for quiet that are so by chance: that is often why the place was
// found.
double news_p_value(std::span<const double> sessions, const std::vector<ChangePoint>& changes) {
    double squares = 0;
    std::size_t begin = 0, before = 0;
    for (std::size_t i = 0; i <= changes.size(); ++i) {
        const std::size_t end = i < changes.size() ? changes[i].index : sessions.size();
        const std::span<const double> level = sessions.subspan(begin, end - begin);
        const double centre = mean(level);
        for (const double value : level) squares += (value - centre) * (value - centre);
        if (i < changes.size()) before = level.size();
        begin = end;
    }
    const ChangePoint& news = changes.back();
    const double degrees = static_cast<double>(sessions.size() - changes.size() - 1);
    const double after = static_cast<double>(sessions.size() - news.index);
    const double error = std::sqrt(squares / degrees * (1 / static_cast<double>(before) + 1 / after));
    if (error == 0) return 0;
    return student_t_p_value((news.after - news.before) / error, degrees);
}

void take_departure(SeriesTrend& trend, std::span<const double> level, const TrendRule& rule) {
    const LatestSessions latest = latest_sessions(level, rule.prediction);
    if (latest.departure == Departure::none) return;
    const std::span<const double> last = level.last(rule.prediction.hits);
    const std::span<const double> before = level.first(level.size() - rule.prediction.hits);
    const std::span<const double> predicting = before.last(std::min(rule.prediction.most, before.size()));
    const double ratio = mean(last) / mean(predicting);
    if (std::max(ratio, 1 / ratio) - 1 < rule.change.smallest_change) return;
    trend.departure = latest.departure;
    trend.level = mean(predicting);
    trend.ratio = ratio;
    trend.p_value = departure_p_value(predicting, last);
}

std::vector<double> values_of(const BenchSeries& series) {
    std::vector<double> values;
    for (const SessionPoint& point : series.points) values.push_back(point.seconds);
    return values;
}

std::string change_words(double ratio) {
    return ratio > 1 ? fmt::format("{:.3f}x slower", ratio) : fmt::format("{:.3f}x faster", 1 / ratio);
}

std::string moment(const SessionPoint& point) {
    return fmt::format("{} (commit {})", date(point.started_ms), short_hash(point.git_sha));
}

std::string news_text(const SeriesTrend& trend, const BenchSeries& series, double adjusted_p) {
    const std::size_t index = trend.news->index, on_level = series.points.size() - index;
    return fmt::format("{} since {}, {} on the new level; adjusted p {:.2g}", change_words(trend.ratio),
                       moment(series.points[index]), counted(on_level, "session"), adjusted_p);
}

std::string departure_text(const SeriesTrend& trend, const TrendRule& rule, double adjusted_p) {
    return fmt::format("the latest {} sessions are {}, beyond what those before them predict; adjusted p {:.2g}",
                       rule.prediction.hits, change_words(trend.ratio), adjusted_p);
}

std::string quiet_text(const SeriesTrend& trend, const BenchSeries& series, const TrendRule& rule) {
    std::string text =
        fmt::format("no new level in the last {} of {}", std::min(rule.alert.recent, series.points.size()),
                    counted(series.points.size(), "session"));
    if (trend.last_change)
        text += fmt::format("; {} since {}", change_words(trend.last_change->ratio()),
                            moment(series.points[trend.last_change->index]));
    return text;
}

bool is_candidate(const SeriesTrend& trend) {
    return trend.news || trend.departure != Departure::none;
}

void judge(TrendFinding& result, const SeriesTrend& trend, const BenchSeries& series, double adjusted_p,
           const TrendRule& rule) {
    CheckFinding& finding = result.judged.finding;
    result.level = trend.level;
    finding.limit = std::log(1 + rule.change.smallest_change);
    if (!is_candidate(trend)) {
        finding.outcome = Outcome::same;
        finding.text = quiet_text(trend, series, rule);
        return;
    }
    finding.outcome = trend.ratio > 1 ? Outcome::worse : Outcome::better;
    finding.text = trend.news ? news_text(trend, series, adjusted_p) : departure_text(trend, rule, adjusted_p);
    if (adjusted_p > rule.false_discovery_rate) {
        finding.outcome = Outcome::unclear;
        finding.text += ": among all series it may be chance";
    }
    const std::size_t first = trend.news ? trend.news->index : series.points.size() - rule.prediction.hits;
    result.since = moment(series.points[first]);
    finding.effect = std::log(trend.ratio);
    result.judged.p_value = trend.p_value;
    result.judged.adjusted_p = adjusted_p;
}

TrendFinding started(const BenchSeries& series) {
    TrendFinding result;
    result.sessions = series.points.size();
    result.latest = series.points.back().seconds;
    result.judged.finding.check = "trend";
    result.judged.finding.name = series.name;
    result.judged.finding.where = series.where;
    result.judged.subject_json =
        Json{{"series", series.name}, {"where", series.where}, {"sessions", series.points.size()}}.dump(
            -1, ' ', false, Json::error_handler_t::replace);
    return result;
}

// Series with a session lately; the machine that a history moved to does not bring up the old one's news.
std::vector<const BenchSeries*> still_measured(std::span<const BenchSeries> series, const TrendRule& rule) {
    std::int64_t newest = 0;
    for (const BenchSeries& one : series) newest = std::max(newest, one.points.back().started_ms);
    std::vector<const BenchSeries*> result;
    for (const BenchSeries& one : series)
        if (one.points.back().started_ms >= newest - rule.idle_days * kDayMs) result.push_back(&one);
    return result;
}

}  // namespace

SeriesTrend series_trend(std::span<const double> sessions, const TrendRule& rule) {
    SeriesTrend trend;
    const std::vector<ChangePoint> changes = change_points(sessions, rule.change);
    if (!changes.empty()) trend.last_change = changes.back();
    const std::span<const double> level = sessions.subspan(changes.empty() ? 0 : changes.back().index);
    trend.level = mean(level);
    if (trend.last_change && is_news(*trend.last_change, sessions.size(), rule.alert)) {
        trend.news = trend.last_change;
        trend.ratio = trend.news->ratio();
        trend.p_value = news_p_value(sessions, changes);
    } else {
        take_departure(trend, level, rule);
    }
    return trend;
}

std::vector<TrendFinding> check_trend(std::span<const BenchSeries> all, const TrendRule& rule) {
    std::vector<TrendFinding> findings;
    std::vector<SeriesTrend> trends;
    std::vector<std::size_t> judged;  // their places among the findings
    const std::vector<const BenchSeries*> series = still_measured(all, rule);
    for (const BenchSeries* one : series) {
        findings.push_back(started(*one));
        CheckFinding& finding = findings.back().judged.finding;
        const std::vector<double> values = values_of(*one);
        if (!std::all_of(values.begin(), values.end(), [](double v) { return v > 0 && std::isfinite(v); })) {
            finding.outcome = Outcome::broken;
            finding.text = "a time that is not positive and finite";
        } else if (values.size() < 2 * rule.change.shortest) {
            finding.text = fmt::format("{}: {} are the fewest that can show a change",
                                       counted(values.size(), "session"), 2 * rule.change.shortest);
        } else {
            trends.push_back(series_trend(values, rule));
            judged.push_back(findings.size() - 1);
        }
    }
    std::vector<double> p_values;
    for (const SeriesTrend& trend : trends) p_values.push_back(trend.p_value);
    const std::vector<double> adjusted = benjamini_hochberg(p_values);
    for (std::size_t i = 0; i < judged.size(); ++i)
        judge(findings[judged[i]], trends[i], *series[judged[i]], adjusted[i], rule);
    return findings;
}

std::string rule_json(const TrendRule& rule) {
    return canonical_json(Json{{"window", rule.change.window},
                               {"shortest", rule.change.shortest},
                               {"candidate_alpha", rule.change.candidate_alpha},
                               {"final_alpha", rule.change.final_alpha},
                               {"smallest_change", rule.change.smallest_change},
                               {"recent", rule.alert.recent},
                               {"after", rule.alert.after},
                               {"prediction_confidence", rule.prediction.confidence},
                               {"prediction_sessions", {rule.prediction.fewest, rule.prediction.most}},
                               {"prediction_hits", rule.prediction.hits},
                               {"false_discovery_rate", rule.false_discovery_rate},
                               {"idle_days", rule.idle_days}});
}

namespace {

constexpr const char* kCaption = "Benchmark times over their history";

Cell time_cell(double seconds) {
    return seconds > 0 && std::isfinite(seconds) ? Cell(small_seconds(seconds), seconds) : Cell("-");
}

std::vector<Cell> row_of(const TrendFinding& one) {
    const CheckFinding& finding = one.judged.finding;
    return {
        finding.name,
        finding.where,
        fmt::format("{}", one.sessions),
        time_cell(one.level),
        time_cell(one.latest),
        finding.effect ? Cell(fmt::format("{:+.1f}%", 100 * (std::exp(*finding.effect) - 1)), *finding.effect) : "-",
        one.since.empty() ? "-" : one.since,
        word(finding.outcome)};
}

}  // namespace

CheckReport trend_report(std::span<const TrendFinding> findings) {
    CheckReport report{kCaption, {}};
    for (const TrendFinding& one : findings) report.findings.push_back(one.judged.finding);
    return report;
}

Table trend_table(std::span<const TrendFinding> findings, const TrendRule& rule, bool all) {
    Table table;
    table.caption = kCaption;
    table.columns = {{"case", Align::left},  {"where", Align::left},  {"sessions"}, {"level"}, {"latest"}, {"change"},
                     {"since", Align::left}, {"verdict", Align::left}};
    table.key_columns = 2;
    std::map<Outcome, std::size_t> counts;
    for (const TrendFinding& one : findings) {
        const Outcome outcome = one.judged.finding.outcome;
        ++counts[outcome];
        const bool quiet = outcome == Outcome::same || outcome == Outcome::missing;
        if (all || !quiet) table.rows.push_back(row_of(one));
        if (!quiet)
            table.notes.push_back(
                fmt::format("{}, {}: {}.", one.judged.finding.name, one.judged.finding.where, one.judged.finding.text));
    }
    std::vector<std::string> parts;
    for (const auto& [outcome, count] : counts) parts.push_back(fmt::format("{} {}", count, word(outcome)));
    if (findings.empty())
        table.notes.push_back("No benchmark session is stored here: deft bench run.");
    else
        table.notes.push_back(fmt::format("{} series: {}.", findings.size(), fmt::join(parts, ", ")));
    if (counts[Outcome::missing] > 0)
        table.notes.push_back(fmt::format("not evaluated: fewer than {} sessions.", 2 * rule.change.shortest));
    table.notes.push_back(fmt::format(
        "Reported: a new level of {:.0f}% or more in the last {} sessions with {} after it, or {} sessions in a row "
        "beyond what the {} or more before them predict; and significant given the number of series at {:.0f}% "
        "(Benjamini "
        "and Hochberg). By chance something is reported in {:.0f} to {:.0f}% of looks at a hundred series, none of "
        "which "
        "changed, as measured on invented ones.",
        100 * rule.change.smallest_change, rule.alert.recent, rule.alert.after, rule.prediction.hits,
        rule.prediction.fewest, 100 * rule.false_discovery_rate, 100 * kLeastChanceNews, 100 * kMostChanceNews));
    return table;
}

}  // namespace deft::reporting
