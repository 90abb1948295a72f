#pragma once
// A trial from its first step to its last score, as the driver has it done, in one folder.

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "experiments/checkpoints.h"
#include "experiments/score_trial.h"
#include "experiments/trial.h"
#include "tests/catch.h"

namespace deft::test {

inline std::vector<std::string> score_keys(const experiments::TrialConfig& config) {
    std::vector<std::string> keys;
    for (const experiments::ScoreRequest& request : experiments::score_requests(config)) keys.push_back(request.key);
    return keys;
}

// Records of a type in folder/journal.jsonl; none where it is not there.
inline std::vector<Json> journal_records(const std::filesystem::path& folder, const std::string& type) {
    std::vector<Json> found;
    std::ifstream in(folder / "journal.jsonl");
    for (std::string line; std::getline(in, line);)
        if (Json json = Json::parse(line); json.at("type") == type) found.push_back(std::move(json));
    return found;
}

// Both attempts write folder/journal.jsonl.
inline void train_and_score(const experiments::TrialConfig& config, const std::filesystem::path& folder) {
    const auto never = [] { return false; };
    REQUIRE(experiments::run_trial(config, {folder, folder / "data", folder / "checkpoints"}, {}, never) == 0);
    const std::filesystem::path checkpoint = experiments::result_checkpoint(folder / "checkpoints").value();
    REQUIRE(experiments::score_trial(config, score_keys(config), {folder, folder / "data", checkpoint}, {}, never) ==
            0);
}

}  // namespace deft::test
