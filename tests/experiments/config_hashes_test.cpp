// Hashes of configurations stay what they were: finished trials are found by them.

#include "base/json.h"
#include "base/sha256.h"
#include "experiments/config.h"
#include "tests/experiments/known_data.h"
#include "tests/golden.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::experiments;

TEST_CASE("configurations of every kind keep their JSON and their hashes, and survive JSON", "[bare]") {
    const std::vector<Json> cases = golden::read_lines("config_hashes.jsonl");
    CHECK(cases.size() > 80);
    for (const Json& known : cases) {
        const auto toml = known.at("toml").get<std::string>();
        INFO(toml);
        const TrialConfig config = test::with_known_data(toml);
        const auto without_eval = [](Json json) {
            json.erase("eval");
            return canonical_json(json);
        };
        CHECK(without_eval(to_json(config)) == without_eval(known.at("config")));
        const Json eval = to_json(config).at("eval");
        for (const auto& [key, value] : known.at("config").at("eval").items()) CHECK(eval.at(key) == value);
        CHECK(config_hash(config) == known.at("weights_hash").get<std::string>());
        CHECK(variant_hash(config) == known.at("weights_variant_hash").get<std::string>());
        CHECK(canonical_json(to_json(from_json(to_json(config)))) == canonical_json(to_json(config)));
        CHECK(canonical_json(to_json(from_json(known.at("config")))) ==
              canonical_json(to_json(from_json(to_json(from_json(known.at("config")))))));
    }
}

TEST_CASE("what is asked of a model is in no hash of it, and each way of asking has a key", "[bare]") {
    const auto asking = [](const std::string& more) {
        TrialConfig config = test::with_known_data("[train]\nbudget_tokens = 100_000\n" + more);
        resolve_tasks(config);
        return config;
    };
    const std::string tasks = "[eval]\ntasks = [\"embedded_questions\"]\n";
    const TrialConfig plain = asking(""), asked = asking(tasks), fewer = asking(tasks + "documents = 5\n"),
                      shots = asking(tasks + "shots = [0, 2]\n");
    for (const TrialConfig* config : {&asked, &fewer, &shots}) {
        CHECK(config_hash(*config) == config_hash(plain));
        CHECK(variant_hash(*config) == variant_hash(plain));
    }
    const auto requests = score_requests(shots);
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].task == "validation");
    CHECK(requests[0].documents == 65536);
    CHECK(requests[1].shots == 0);
    CHECK(requests[2].shots == 2);
    CHECK(requests[1].key == score_requests(asked)[1].key);
    CHECK(requests[2].key != requests[1].key);
    CHECK(score_requests(fewer)[1].key != requests[1].key);
    CHECK(score_requests(fewer)[0].key == requests[0].key);
    TrialConfig other = asked;
    other.eval.asked[0].sha256 = "of other records";
    CHECK(score_requests(other)[1].key != requests[1].key);
    for (const char* wrong : {"shots = [0, 0]\n", "shots = [-1]\n"})
        CHECK_THAT(test::refusal([&] { asking(tasks + wrong); }, "list each number of few-shot examples once, from 0"),
                   ContainsSubstring("shots"));
}
