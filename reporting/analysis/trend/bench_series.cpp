#include "reporting/analysis/trend/bench_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/json.h"
#include "base/median.h"

namespace deft::reporting {

namespace {

using results_db::BenchHistoryRow;

auto key_of(const BenchHistoryRow& row) {
    return std::tie(row.kernel, row.impl, row.params_json, row.version, row.host_fingerprint, row.compiler);
}

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Our own parameters are spelt as the benchmarks' tables do, any others as they are.
BenchSeries named(const BenchHistoryRow& row) {
    Json params = try_parse_json(row.params_json);
    if (!params.is_object()) params = Json::object();
    std::string name = row.kernel, details = row.impl;
    for (const auto& [key, value] : params.items()) {
        const std::string text = text_of(value);
        if (text.empty()) continue;
        if (key == "case")
            name += "/" + text;
        else if (key == "caches")
            details += ", " + text;
        else if (key == "threads")
            details += fmt::format(", {} thread{}", text, text == "1" ? "" : "s");
        else
            details += fmt::format(", {} {}", key, text);
    }
    const std::string where = fmt::format("{} {}, {}", row.hostname, row.host_fingerprint.substr(0, 8), row.compiler);
    return {.case_name = name,
            .name = fmt::format("{} ({})", name, details),
            .where = where,
            .points = {},
            .hostname = row.hostname,
            .host_fingerprint = row.host_fingerprint,
            .cpu_model = row.cpu_model,
            .compiler = row.compiler};
}

bool same_session(const BenchHistoryRow& before, const BenchHistoryRow& row, std::int64_t launch_gap_ms) {
    return row.code_id == before.code_id && row.started_ms - before.ended_ms <= launch_gap_ms;
}

}  // namespace

std::vector<BenchSeries> bench_series(std::span<const BenchHistoryRow> rows, std::int64_t launch_gap_ms) {
    std::vector<BenchSeries> all;
    std::vector<double> launches;  // of the newest point
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const BenchHistoryRow& row = rows[i];
        const bool same_series = i > 0 && key_of(rows[i - 1]) == key_of(row);
        if (!same_series) all.push_back(named(row));
        std::vector<SessionPoint>& points = all.back().points;
        if (!same_series || !same_session(rows[i - 1], row, launch_gap_ms)) {
            launches.clear();
            points.push_back({row.started_ms, 0, 0, row.git_sha});
        }
        launches.push_back(row.seconds);
        SessionPoint& point = points.back();
        point.seconds = median(launches);
        point.launches = launches.size();
        const auto [least, most] = std::minmax_element(launches.begin(), launches.end());
        const double around = launches.size() == 1 ? row.deviation : 0;
        point.low = *least - around;
        point.high = *most + around;
    }
    return all;
}

}  // namespace deft::reporting
