// Evidence whose hashes are right and whose values no measurement has.

#include <functional>
#include <limits>

#include "base/error.h"
#include "results_db/evidence/possible_values.h"
#include "results_db/reader.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

void refuses(const std::string& text, const std::string& says) {
    CHECK_THAT(refusal(ErrorKind::database,
                       [&] {
                           const Reader merged(std::vector<NamedEvidence>{{"x.jsonl", text}});
                       }),
               ContainsSubstring("x.jsonl:") && ContainsSubstring(says));
}

bool is_possible(const char* metric, const char* unit, const char* better, double value, double error = 0.1,
                 double chance = std::numeric_limits<double>::quiet_NaN()) {
    journal::Evaluation score;
    score.metric = metric;
    score.unit = unit;
    score.better = better;
    score.value = value;
    score.standard_error = error;
    score.chance = chance;
    try {
        require_possible(score);
    } catch (const BadRecord&) {
        return false;
    }
    return true;
}

}  // namespace

TEST_CASE("A score lies within the range of its metric") {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                     kInfinity = std::numeric_limits<double>::infinity();
    CHECK(is_possible("acc", "", "higher", 1));
    CHECK(is_possible("acc", "", "higher", 0, kNan));
    CHECK_FALSE(is_possible("acc_norm", "", "higher", 7));
    CHECK_FALSE(is_possible("f1", "", "higher", -0.5));
    CHECK_FALSE(is_possible("acc", "", "higher", 0.5, -5));
    CHECK_FALSE(is_possible("acc", "", "higher", 0.5, 0.1, 9));
    CHECK(is_possible("mcc", "", "higher", -1));
    CHECK_FALSE(is_possible("pearson", "", "higher", -1.5));
    CHECK(is_possible("bits_per_byte", "bits/byte", "lower", 8));
    CHECK(is_possible("loss", "nats/token", "lower", kInfinity));
    CHECK(is_possible("loss", "nats/token", "lower", kNan));
    CHECK_FALSE(is_possible("bits_per_byte", "bits/byte", "lower", -3));
    CHECK_FALSE(is_possible("tokens_per_second", "tokens/s", "higher", -1));
    CHECK(is_possible("reward of another program", "", "higher", -7));
}

TEST_CASE("Evidence with values that no measurement has is refused with its line") {
    const std::string text = MeasuredSweep({.seeds = {2}}).text();
    const auto changed = [&](const char* kind, const std::function<void(Json&)>& change) {
        Records records(text);
        change(records.find(kind));
        return records.sealed();
    };
    refuses(changed("sweep", [](Json& one) { one["baseline"] = "nosuch"; }), "its 'baseline' is nosuch");
    refuses(changed("attempt", [](Json& one) { one["started_ms"] = 10'000'000, one["ended_ms"] = 1; }),
            "before its 'started_ms'");
    refuses(changed("curve",
                    [](Json& one) {
                        for (Json& flops : one["train"]["flops"]) flops = -1.0;
                    }),
            "its 'flops'");
    Records setups(text);
    setups.change_shared([](const Json& value) { return value.is_object() && value.contains("host"); },
                         [](Json& value) { value["devices"] = 1'000'000'000; });
    refuses(setups.sealed(), "its 'devices' is 1000000000");
    Records tasks(text);
    tasks.change_shared([](const Json& value) { return value.is_object() && value.contains("measures"); },
                        [](Json& value) {
                            for (Json& measure : value["measures"]) measure[4] = -9.0;
                        });
    refuses(tasks.sealed(), "level of chance");
}
