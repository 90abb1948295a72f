// Whole trainings within the quickstart's budget. Labelled `training`: minutes, run once and not under sanitizers.

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/config.h"
#include "base/journal.h"
#include "base/json.h"
#include "experiments/trial.h"
#include "tests/catch.h"
#include "tests/experiments/whole_trial.h"

using namespace deft;
namespace fs = std::filesystem;

namespace {

// The quickstart's own defaults, so that the test follows the file.
ConfigNode quickstart() {
    return *parse_toml_file(DEFT_SOURCE_DIR "/sweeps/quickstart.toml").find("defaults");
}

// Trains and returns the four-way accuracy.
double accuracy(const ConfigNode& node, std::int64_t seed) {
    experiments::TrialConfig config = experiments::parse_trial_config(node, seed, ".");
    experiments::resolve_data(config);
    char name[] = "/tmp/deft-training-XXXXXX";
    const fs::path folder = mkdtemp(name);
    test::train_and_score(config, folder);
    double value = -1;
    std::ifstream in(folder / "journal.jsonl");
    for (std::string line; std::getline(in, line);) {
        const Json json = Json::parse(line);
        if (json.value("task", "") == "embedded_questions" && json.value("metric", "") == "acc")
            value = json.at("value").get<double>();
    }
    fs::remove_all(folder);
    return value;
}

}  // namespace

TEST_CASE("training: the baseline learns the facts in both seeds", "[training][slow][bare]") {
    for (const std::int64_t seed : {1, 2}) {
        const double value = accuracy(quickstart(), seed);
        INFO("seed " << seed << ": " << value);
        CHECK(value >= 0.60);
    }
}

TEST_CASE("training: a control on shuffled facts stays at chance", "[training][slow][bare]") {
    ConfigNode node = quickstart();
    set_at_path(node, "data.shuffled_facts", parse_toml_value("true", {}));
    for (const std::int64_t seed : {1, 2}) {
        const double value = accuracy(node, seed);
        INFO("seed " << seed << ": " << value);
        CHECK(value == Approx(0.25).margin(0.04));
    }
}
