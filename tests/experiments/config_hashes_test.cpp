// Hashes of configurations stay what they were: finished trials are found by them.

#include "base/json.h"
#include "base/sha256.h"
#include "experiments/config.h"
#include "tests/golden.h"

using namespace deft;
using namespace deft::experiments;

namespace {

// With hashes in place of those of data that need not be here.
TrialConfig with_known_data(const std::string& toml) {
    TrialConfig config = parse_trial_config(parse_toml(toml, "t.toml"), 5, "/base");
    config.data.sha256 = "of data";
    if (config.data.vocab == 0) config.data.vocab = 300;
    config.eval.task_sha256.assign(config.eval.tasks.size(), "of a task");
    if (config.curriculum)
        for (CurriculumMetric& metric : config.curriculum->metrics)
            if (!metric.column.empty()) metric.column_sha256 = "of a column";
    return config;
}

}  // namespace

TEST_CASE("configurations of every kind keep their JSON and their hashes, and survive JSON") {
    const std::vector<Json> cases = golden::read_lines("config_hashes.jsonl");
    CHECK(cases.size() > 80);
    for (const Json& known : cases) {
        const auto toml = known.at("toml").get<std::string>();
        INFO(toml);
        const TrialConfig config = with_known_data(toml);
        CHECK(canonical_json(to_json(config)) == canonical_json(known.at("config")));
        CHECK(config_hash(config) == known.at("config_hash").get<std::string>());
        CHECK(variant_hash(config) == known.at("variant_hash").get<std::string>());
        CHECK(canonical_json(to_json(from_json(to_json(config)))) == canonical_json(known.at("config")));
    }
}
