// Trials that an older program trained are found by what decided their weights.

#include "results_db/former_hashes.h"

#include "base/json.h"
#include "tests/catch.h"
#include "tests/experiments/known_data.h"
#include "tests/golden.h"

using namespace deft;

TEST_CASE("hashes of before, which counted what is scored, lead to those of what is trained") {
    for (const Json& known : golden::read_lines("config_hashes.jsonl")) {
        INFO(known.at("toml").get<std::string>());
        const auto former = known.at("config_hash").get<std::string>();
        const experiments::TrialConfig config = test::with_known_data(known.at("toml").get<std::string>());
        const auto hashes = results_db::hashes_without_evaluation(known.at("config"), former);
        REQUIRE(hashes);
        CHECK(hashes->config == experiments::config_hash(config));
        CHECK(hashes->variant == experiments::variant_hash(config));
        CHECK(experiments::is_former_hash(config, known.at("config"), former));
        Json other = known.at("config");
        other["eval"]["documents"] = 17;
        CHECK_FALSE(experiments::is_former_hash(config, other, former));
        CHECK_FALSE(results_db::hashes_without_evaluation(other, former));
    }
}
