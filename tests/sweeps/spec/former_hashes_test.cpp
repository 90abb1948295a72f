// Trials that an older program trained are found by what decided their weights.

#include "results_db/former_hashes.h"

#include "base/json.h"
#include "tests/catch.h"
#include "tests/golden.h"

using namespace deft;

TEST_CASE("hashes of before, which counted what is scored, lead to those of what is trained", "[surroundings]") {
    for (const Json& known : golden::read_lines("former_config_hashes.jsonl")) {
        const auto former = known.at("config_hash").get<std::string>();
        INFO(former);
        const auto hashes = results_db::hashes_without_evaluation(known.at("config"), former);
        REQUIRE(hashes);
        CHECK(hashes->config == known.at("weights_hash").get<std::string>());
        CHECK(hashes->variant == known.at("weights_variant_hash").get<std::string>());
        Json other = known.at("config");
        other["eval"]["documents"] = 17;
        CHECK_FALSE(results_db::hashes_without_evaluation(other, former));
    }
}
