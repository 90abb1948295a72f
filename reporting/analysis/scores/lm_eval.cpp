#include "reporting/analysis/scores/lm_eval.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "base/score_key.h"

namespace deft::reporting {

namespace {

Json number(double value) {
    if (std::isnan(value)) return "N/A";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

// The name of a task's entry: one of several numbers of shots is named by it.
std::string entry_name(const Score& row, const std::map<std::string, std::set<std::int64_t>>& shots) {
    return shots.at(row.task).size() == 1 ? row.task : fmt::format("{}_{}shot", row.task, row.shots);
}

}  // namespace

Json lm_eval_results(const ScoredModel& model, const std::vector<Score>& scores) {
    std::map<std::string, std::set<std::int64_t>> shots;
    for (const Score& row : scores) shots[row.task].insert(row.shots);
    Json json = {{"results", Json::object()},
                 {"versions", Json::object()},
                 {"n-shot", Json::object()},
                 {"higher_is_better", Json::object()},
                 {"n-samples", Json::object()},
                 {"config", {{"model", "deft"}, {"model_args", fmt::format("trial={}", model.name)}}},
                 {"model_name", model.name},
                 {"model_sha256", model.model_sha256},
                 {"config_hash", model.config_hash},
                 {"git_hash", model.git_sha}};
    for (const Score& row : scores) {
        const std::string name = entry_name(row, shots);
        Json& entry = json["results"][name];
        entry["alias"] = row.task + (is_under_capacity(row.score_key) ? " (under capacity)" : "");
        entry[row.measure + ",none"] = number(row.value);
        entry[row.measure + "_stderr,none"] = number(row.standard_error);
        json["versions"][name] = row.task_version;
        json["n-shot"][name] = row.shots;
        if (row.better != "none") json["higher_is_better"][name][row.measure] = row.better == "higher";
        json["n-samples"][name] = {{"original", row.n}, {"effective", row.n}};
    }
    return json;
}

}  // namespace deft::reporting
