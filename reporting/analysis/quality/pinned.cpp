#include "reporting/analysis/quality/pinned.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::BaselineRow;

constexpr std::size_t kMostRowsNamed = 4;

bool is_finished(const MeasuredRow& one) {
    return one.crashed.empty() && one.unfinished.empty() && one.stale.empty();
}

// The options that pin the finished rows alone; a placeholder where they are none or many.
std::string only_finished(std::span<const MeasuredRow> measured) {
    std::string options;
    std::size_t count = 0;
    for (const MeasuredRow& one : measured)
        if (is_finished(one) && ++count <= kMostRowsNamed) options += " --only " + shell_word(one.name);
    return count == 0 || count > kMostRowsNamed ? " --only ROW" : options;
}

void require_finished(const MeasuredRow& one, std::span<const MeasuredRow> all) {
    const auto refuse = [&](const std::string& what, const char* fix) {
        throw Error(ErrorKind::usage, fmt::format("row {} {}", one.name, what),
                    fmt::format("{}, or pin the finished rows alone:{}", fix, only_finished(all)), "the baselines");
    };
    if (!one.crashed.empty()) refuse(fmt::format("has crashed trials: {}", one.crashed.front()), "fix and run them");
    if (!one.unfinished.empty())
        refuse(fmt::format("has unfinished trials: seed {}", fmt::join(one.unfinished, ", ")),
               "run the sweep to its end");
    if (!one.stale.empty())
        refuse(fmt::format("is stale: {}", one.stale.front()), "run the sweep again, which retrains it");
}

void require_finite(const MeasuredRow& one, const Measure& measure, const SeedValue& seed) {
    if (std::isfinite(seed.value) && std::all_of(seed.curve.begin(), seed.curve.end(),
                                                 [](const LossPoint& point) { return std::isfinite(point.loss); }))
        return;
    throw Error(ErrorKind::data, fmt::format("row {}: {} of seed {} is not finite", one.name, name(measure), seed.seed),
                "a baseline is what later trials should reach: pin other rows with --only", "the baselines");
}

Json to_json(const SeedValue& seed) {
    Json json = {{"seed", seed.seed}, {"attempt", seed.attempt_uid}, {"value", seed.value}};
    if (!seed.score_key.empty()) json["score_key"] = seed.score_key;
    for (const LossPoint& point : seed.curve) json["curve"].push_back({point.consumed, point.loss});
    return json;
}

// A value that is not finite or does not grow cannot be pinned.
LossCurve curve_from(const Json& json) {
    LossCurve curve;
    for (const Json& point : json) {
        curve.push_back({point.at(0).get<double>(), point.at(1).get<double>()});
        const double before = curve.size() > 1 ? curve[curve.size() - 2].consumed : 0;
        if (!(curve.back().consumed > before) || !std::isfinite(curve.back().loss))
            throw Error(ErrorKind::database, "a curve whose tokens do not grow, or whose loss is not finite");
    }
    return curve;
}

std::vector<SeedValue> seeds_from(const std::string& source) {
    const Json parsed = parse_json(source);
    std::vector<SeedValue> seeds;
    for (const Json& json : parsed.at("seeds"))
        seeds.push_back(
            {json.at("seed").get<std::int64_t>(), json.at("attempt").get<std::string>(), json.at("value").get<double>(),
             json.contains("curve") ? curve_from(json["curve"]) : LossCurve{}, json.value("score_key", "")});
    return seeds;
}

BaselineRow row_of(const MeasuredRow& one, const Measure& measure, const std::vector<SeedValue>& seeds,
                   const std::string& sweep, const PinRequest& request) {
    std::vector<SeedScore> by_trial;
    Json source = {{"sweep", sweep}, {"seeds", Json::array()}};
    for (const SeedValue& seed : seeds) {
        require_finite(one, measure, seed);
        by_trial.push_back({seed.seed, seed.value});
        source["seeds"].push_back(to_json(seed));
    }
    std::vector<double> values;
    for (const SeedScore& score : mean_by_seed(by_trial)) values.push_back(score.value);
    BaselineRow row;
    row.name = request.name;
    row.variant = one.name;
    row.variant_hash = one.variant_hash;
    row.measure_json = canonical_json(to_json(measure));
    row.center = mean(values);
    row.lowest = *std::min_element(values.begin(), values.end());
    row.highest = *std::max_element(values.begin(), values.end());
    row.seeds = static_cast<std::int64_t>(values.size());
    row.source_json = canonical_json(source);
    row.pinned_by = request.pinned_by;
    row.reason = request.reason;
    row.created_ms = request.now_ms;
    return row;
}

MeasuredRow& measured_row(std::vector<MeasuredRow>& measured, const BaselineRow& row) {
    for (MeasuredRow& one : measured)
        if (one.name == row.variant) return one;
    MeasuredRow& one = measured.emplace_back();
    one.name = row.variant;
    one.variant_hash = row.variant_hash;
    return one;
}

[[noreturn]] void fail_unknown(std::span<const BaselineRow> rows, const std::string& name) {
    std::set<std::string> live;
    bool was_retired = false;
    for (const BaselineRow& row : rows) {
        if (!row.retired_ms) live.insert(row.name);
        was_retired = was_retired || row.name == name;
    }
    // Beside others a name that never was one is mistyped; without any there is nothing to compare with.
    throw Error(live.empty() || was_retired ? ErrorKind::missing : ErrorKind::usage,
                fmt::format("no live baseline is named {}", name),
                live.empty() ? "pin one: deft baseline pin NAME SWEEP"
                             : suggestion(name, std::vector<std::string>(live.begin(), live.end())));
}

}  // namespace

std::vector<BaselineRow> baseline_rows(std::span<const MeasuredRow> measured, const std::string& sweep,
                                       const PinRequest& request) {
    if (request.name.empty()) throw Error(ErrorKind::usage, "a baseline without a name", "give it one");
    std::vector<BaselineRow> rows;
    for (const MeasuredRow& one : measured) {
        require_finished(one, measured);
        for (const auto& [measure, seeds] : one.values) rows.push_back(row_of(one, measure, seeds, sweep, request));
    }
    if (rows.empty())
        throw Error(ErrorKind::missing, fmt::format("sweep {} has nothing measured to pin", sweep),
                    "run it first: deft run SWEEP.toml", "the baselines");
    return rows;
}

std::vector<MeasuredRow> pinned_rows(std::span<const BaselineRow> rows, const std::string& name) {
    std::vector<MeasuredRow> measured;
    for (const BaselineRow& row : rows) {
        if (row.name != name || row.retired_ms) continue;
        try {
            MeasuredRow& one = measured_row(measured, row);
            std::vector<SeedValue> seeds = seeds_from(row.source_json);
            one.seeds = std::max(one.seeds, seeds.size());
            one.values[measure_from(parse_json(row.measure_json))] = std::move(seeds);
        } catch (const std::exception& error) {
            throw Error(ErrorKind::database,
                        fmt::format("baseline {}, row {}, cannot be read: {}", name, row.variant, error.what()),
                        fmt::format("retire it and pin again: deft baseline retire {}", name), "the baseline");
        }
    }
    if (measured.empty()) fail_unknown(rows, name);
    return measured;
}

Table baseline_table(std::span<const BaselineRow> rows) {
    Table table;
    table.columns = {{"baseline", Align::left},
                     {"rows"},
                     {"measures"},
                     {"seeds"},
                     {"pinned", Align::left},
                     {"by", Align::left},
                     {"state", Align::left},
                     {"reason", Align::left}};
    for (std::size_t begin = 0; begin < rows.size();) {
        std::size_t end = begin;
        std::set<std::string> names;
        std::int64_t fewest = rows[begin].seeds, most = fewest;
        for (; end < rows.size() && rows[end].name == rows[begin].name &&
               rows[end].created_ms == rows[begin].created_ms && rows[end].retired_ms == rows[begin].retired_ms;
             ++end) {
            names.insert(rows[end].variant);
            fewest = std::min(fewest, rows[end].seeds);
            most = std::max(most, rows[end].seeds);
        }
        const BaselineRow& row = rows[begin];
        table.rows.push_back({row.name, fmt::format("{}", names.size()), fmt::format("{}", end - begin),
                              fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most),
                              date(row.created_ms), row.pinned_by,
                              row.retired_ms ? "retired " + date(*row.retired_ms) : "live",
                              row.reason.empty() ? "-" : row.reason});
        begin = end;
    }
    if (rows.empty()) table.notes.push_back("No baseline was pinned here: deft baseline pin NAME SWEEP.");
    return table;
}

}  // namespace deft::reporting
