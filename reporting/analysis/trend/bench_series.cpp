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

bool is_cache_state(const std::string& text) {
    return text == "hot" || text == "cold" || text == "rotating";
}

// Our own parameters are spelt as the benchmarks' tables do, any others as they are.
BenchSeries named(const BenchHistoryRow& row) {
    Json params = try_parse_json(row.params_json);
    if (!params.is_object()) params = Json::object();
    std::string name = row.kernel, details = row.impl, of_chart = row.impl, caches;
    for (const auto& [key, value] : params.items()) {
        const std::string text = text_of(value);
        if (text.empty()) continue;
        if (key == "case") {
            name += "/" + text;
            continue;
        }
        std::string detail = fmt::format(", {} {}", key, text);
        if (key == "caches") detail = ", " + text;
        if (key == "threads") detail = fmt::format(", {} thread{}", text, text == "1" ? "" : "s");
        details += detail;
        if (key == "caches" && is_cache_state(text))
            caches = text;
        else
            of_chart += detail;
    }
    const std::string where = fmt::format("{} {}, {}", row.hostname, row.host_fingerprint.substr(0, 8), row.compiler);
    return {.case_name = name,
            .name = fmt::format("{} ({})", name, details),
            .where = where,
            .points = {},
            .chart = fmt::format("{} ({})", name, of_chart),
            .caches = caches,
            .version = row.version,
            .hostname = row.hostname,
            .host_fingerprint = row.host_fingerprint,
            .cpu_model = row.cpu_model,
            .compiler = row.compiler};
}

Json part_of(const Json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found == object.end() ? Json() : *found;
}

// The parts of a host that change its speed, but not its fingerprint. Its name does not count: each container draws its
// own.
std::string machine_text(const std::string& machine_json) {
    const Json machine = try_parse_json(machine_json), cuda = part_of(part_of(machine, "extra"), "cuda");
    std::string text;
    const auto add = [&](const Json& from, const char* key, const char* before) {
        const Json value = part_of(from, key);
        if (!value.is_null() && !text_of(value).empty()) text += (text.empty() ? "" : ", ") + (before + text_of(value));
    };
    for (const char* key : {"kernel", "os"}) add(machine, key, "");
    add(cuda, "driver", "driver ");
    add(cuda, "runtime", "CUDA ");
    add(cuda, "cublaslt", "cuBLASLt ");
    return text;
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
        point.machine = machine_text(row.machine_json);
    }
    return all;
}

}  // namespace deft::reporting
