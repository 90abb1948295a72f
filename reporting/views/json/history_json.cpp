#include "reporting/views/json/history_json.h"

#include "base/json.h"
#include "reporting/ordered_json.h"

namespace deft::reporting {

namespace {

OrderedJson sessions_json(const BenchSeries& series) {
    OrderedJson json = OrderedJson::array();
    for (const SessionPoint& point : series.points)
        json.push_back({{"started_ms", point.started_ms},
                        {"commit", point.git_sha},
                        {"seconds", json_number(point.seconds)},
                        {"low_seconds", json_number(point.low)},
                        {"high_seconds", json_number(point.high)},
                        {"launches", point.launches}});
    return json;
}

OrderedJson changes_json(const SeriesHistory& history) {
    OrderedJson json = OrderedJson::array();
    for (const ChangePoint& change : history.changes) {
        const SessionPoint& first = history.series.points.at(change.index);
        json.push_back(
            {{"started_ms", first.started_ms}, {"commit", first.git_sha}, {"ratio", json_number(change.ratio())}});
    }
    return json;
}

OrderedJson series_json(const SeriesHistory& history) {
    const BenchSeries& series = history.series;
    return {{"benchmark", series.name},
            {"case", series.case_name},
            {"where", series.where},
            {"host", series.hostname},
            {"host_fingerprint", series.host_fingerprint},
            {"cpu", series.cpu_model},
            {"compiler", series.compiler},
            {"status", status_text(history)},
            {"newest_seconds", json_number(series.points.back().seconds)},
            {"median_before_seconds", json_number(history.history_median)},
            {"newest_ratio", json_number(history.newest_ratio)},
            {"changes", changes_json(history)},
            {"sessions", sessions_json(series)}};
}

}  // namespace

std::string render_history_json(std::span<const SeriesHistory> histories) {
    OrderedJson json = {{"schema", "deft-bench-history/1"}, {"series", OrderedJson::array()}};
    for (const SeriesHistory& history : histories) json["series"].push_back(series_json(history));
    return json_text(json);
}

}  // namespace deft::reporting
