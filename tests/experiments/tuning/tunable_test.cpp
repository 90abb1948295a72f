// Starts and durations read from a configuration and written into it.

#include "experiments/tuning/tunable.h"

#include "base/config.h"
#include "base/json.h"
#include "experiments/projection.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::experiments;

namespace {

TrialConfig config_with(const std::string& techniques) {
    TrialConfig config = parse_trial_config(
        parse_toml("[model]\nlayers = 4\nwidth = 16\nheads = 2\nseqlen = 32\n[data]\nembedded_bytes = 5000\n"
                   "[train]\nbatch_size = 4\nbudget_tokens = 12800\n" +
                       techniques,
                   "t.toml"),
        1, ".");
    resolve_data(config);
    return config;
}

const std::string kBoth =
    "[curriculum.seqtru]\nmin = 8\ndifficulty_step = 4\nduration = 0.5\npacing = \"root\"\n"
    "[curriculum.voc]\nmin = 5\nsteps = 25\n[random_ltd]\nmin = 16\nstep = 8\nduration = 0.7\n";

std::vector<Tunable> tunables(const TrialConfig& config) {
    std::vector<std::string> left_out;
    return tunables_of(config, left_out);
}

}  // namespace

TEST_CASE("tuning: what grows is read by the names of the configuration") {
    const TrialConfig config = config_with(kBoth);
    const auto found = tunables(config);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == Tunable{"curriculum.seqtru", 8, 32, 4, 1, 0.5, 0});
    // 12800 tokens are 100 steps of 4 samples of 32.
    CHECK(found[1] == Tunable{"curriculum.voc", 5, 100, 1, 1, 0.25, 25});
    CHECK(found[2] == Tunable{"random_ltd", 16, 32, 8, 1, 0.7, 0});
    CHECK(tunables(without_techniques(config)).empty());
}

TEST_CASE("tuning: a start and a duration are written, and nothing else") {
    const TrialConfig config = config_with(kBoth);
    Tunable tunable = tunables(config)[0];
    tunable.min = 20;
    tunable.duration = 0.9;
    Json expected = to_json(config);
    expected["curriculum"]["seqtru"]["min"] = 20;
    expected["curriculum"]["seqtru"]["duration"] = 0.9;
    CHECK(to_json(with_tunable(config, tunable)) == expected);

    Tunable by_steps = tunables(config)[1];
    by_steps.steps = 60;
    CHECK(tunables(with_tunable(config, by_steps))[1].steps == 60);

    CHECK(to_json(with_learning_rate(config, 0.5))["train"]["learning_rate"] == 0.5);
}

TEST_CASE("tuning: a technique alone is the trial without the others") {
    const TrialConfig config = config_with(kBoth);
    for (const Tunable& tunable : tunables(config)) {
        const auto alone = tunables(with_tunable_alone(config, tunable));
        REQUIRE(alone.size() == 1);
        CHECK(alone[0] == tunable);
    }
    const Json plain = to_json(without_techniques(config));
    CHECK(plain == to_json(config_with("")));
}

TEST_CASE("tuning: what does not grow is left out, and said so") {
    std::vector<std::string> left_out;
    CHECK(tunables_of(config_with("[random_ltd]\nmin = 16\nmax = 16\n"), left_out).empty());
    REQUIRE(left_out.size() == 1);
    CHECK_THAT(left_out[0], ContainsSubstring("random_ltd"));
}

TEST_CASE("tuning: starts are the multiples of the step, and the end") {
    const auto starts = [](const Tunable& tunable) {
        const StartGrid grid(tunable);
        std::vector<std::int64_t> all;
        for (std::size_t i = 0; i < grid.size(); ++i) all.push_back(grid.at(i));
        return all;
    };
    CHECK(starts({"x", 8, 32, 8, 1, 1, 0}) == std::vector<std::int64_t>{8, 16, 24, 32});
    CHECK(starts({"x", 8, 30, 8, 1, 1, 0}) == std::vector<std::int64_t>{8, 16, 24, 30});
    CHECK(starts({"x", 8, 32, 8, 9, 1, 0}) == std::vector<std::int64_t>{16, 24, 32});
    CHECK(starts({"x", 8, 8, 16, 1, 1, 0}) == std::vector<std::int64_t>{8});
    CHECK(StartGrid({"x", 1, 100, 1, 1, 1, 0}).size() == 100);
}
