// [random_ltd] and [token_bypass]: what they say, what they refuse, and their way through JSON.

#include "base/json.h"
#include "engine/data_efficiency/token_dropping/token_bypass.h"
#include "experiments/config.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::trial_of;

namespace {

const std::string kSix = "[model]\nlayers = 6\n[train]\nbudget_tokens = 100_000\n";  // 4 lines, 196 steps of 8 x 64

std::string wrong_dropping(const std::string& toml) {
    return test::wrong_trial(kSix + toml);
}

engine::TokenDropping dropping_of(const std::string& toml) {
    return trainer_config(trial_of(kSix + toml)).techniques.dropping.value();
}

const engine::TokenBypassSettings& settings_of(const engine::TokenDropping& dropping) {
    return *static_cast<const engine::TokenBypassSettings*>(dropping.settings.get());
}

}  // namespace

TEST_CASE("random_ltd drops tokens in all layers but the first and last, linearly, by default") {
    const engine::TokenDropping plain = dropping_of("[random_ltd]\nduration = 0.5\n");
    CHECK(plain.layers == engine::layer_range(1, 4));
    CHECK(plain.keep_first == 0);
    CHECK(plain.kept.min == 16);
    CHECK(plain.kept.max == 64);
    CHECK(plain.kept.duration == 98);
    CHECK(plain.kept.root_degree == 1);
    CHECK(plain.dropper == &engine::token_dropper("random_ltd"));
    const engine::TokenDropping dropping = dropping_of(
        "[random_ltd]\nsteps = 7\nlayers = [1, 2, 5]\nkeep_first = 1\npacing = \"root\"\nroot_degree = 3\n");
    CHECK(dropping.layers == std::vector<std::int32_t>{1, 2, 5});
    CHECK(dropping.keep_first == 1);
    CHECK(dropping.kept.duration == 7);
    CHECK(dropping.kept.root_degree == 3);
    CHECK(dropping_of("[random_ltd]\nsteps = 7\nlayers = \"0-3\"\n").layers == engine::layer_range(0, 3));
    CHECK(dropping_of("[random_ltd]\nsteps = 7\nlayers = \"4-4\"\n").layers == engine::layer_range(4, 4));
}

TEST_CASE("token_bypass drops tokens in the middle half as one run") {
    const engine::TokenDropping plain = dropping_of("[token_bypass]\nduration = 0.5\n");
    CHECK(plain.layers == engine::layer_range(1, 3));
    CHECK(plain.dropper == &engine::token_dropper("token_bypass"));
    CHECK(settings_of(plain).decay == 0.995);
    CHECK(settings_of(plain).special_tokens.empty());
    const engine::TokenDropping dropping =
        dropping_of("[token_bypass]\nsteps = 7\nlayers = \"2-4\"\ndecay = 0.9\nspecial_tokens = [0, 256]\n");
    CHECK(dropping.layers == engine::layer_range(2, 4));
    CHECK(settings_of(dropping).decay == 0.9);
    CHECK(settings_of(dropping).special_tokens == std::vector<std::int64_t>{0, 256});
}

TEST_CASE("min = max keeps a constant number of tokens and needs no duration") {
    for (const char* table : {"random_ltd", "token_bypass"}) {
        const TrialConfig config = trial_of(kSix + "[" + table + "]\nmin = 32\nmax = 32\n");
        const engine::Techniques techniques = trainer_config(config).techniques;
        for (const std::int64_t step : {0, 1, 195}) CHECK(plan_step({64, 6}, techniques, step).kept == 32);
    }
    CHECK_THAT(wrong_dropping("[random_ltd]\nmin = 32\nmax = 32\nduration = 0\n"), ContainsSubstring("exactly one"));
    CHECK_THAT(wrong_dropping("[token_bypass]\nmin = 16\n"), ContainsSubstring("exactly one"));
}

TEST_CASE("token droppers that make no sense are refused with their place") {
    const std::string ltd = "[random_ltd]\nsteps = 7\n", bypass = "[token_bypass]\nsteps = 7\n";
    CHECK_THAT(wrong_dropping(ltd + "layers = [1, 6]\n"),
               ContainsSubstring("t.toml:7:") && ContainsSubstring("layer 6"));
    CHECK_THAT(wrong_dropping(ltd + "layers = [2, 1]\n"), ContainsSubstring("1 after 2"));
    CHECK_THAT(wrong_dropping(ltd + "layers = []\n"), ContainsSubstring("is empty"));
    for (const char* range : {"4-2", "1-", "a", "-1-3", "1-2-3", "0-99999999999999999999"})
        CHECK_THAT(wrong_dropping(ltd + "layers = \"" + range + "\"\n"), ContainsSubstring("not a range"));
    CHECK_THAT(wrong_dropping(ltd + "layers = \"2-6\"\n"), ContainsSubstring("layer 6"));
    CHECK_THAT(wrong_dropping(ltd + "layers = 3\n"), ContainsSubstring("t.toml:7:"));
    CHECK_THAT(wrong_dropping(ltd + "keep_first = 17\n"), ContainsSubstring("above min = 16"));
    CHECK_THAT(wrong_dropping(ltd + "pacing = \"rot\"\n"), ContainsSubstring("did you mean \"root\"?"));
    CHECK_THAT(wrong_dropping(ltd + "root_degree = 0.5\n"), ContainsSubstring("at least 1"));
    CHECK_THAT(wrong_dropping(ltd + "decay = 0.5\n"), ContainsSubstring("unknown key"));
    CHECK_THAT(wrong_dropping(bypass + "decay = 1.0\n"), ContainsSubstring("[0, 1)"));
    CHECK_THAT(wrong_dropping(bypass + "special_tokens = [-1]\n"), ContainsSubstring("special_tokens"));
    CHECK_THAT(wrong_dropping(bypass + "layers = [1, 3]\n"),
               ContainsSubstring("dropped tokens skip all of them") && ContainsSubstring("1-3"));
    CHECK_THAT(wrong_dropping(ltd + bypass), ContainsSubstring("both choose the tokens") &&
                                                 ContainsSubstring("t.toml:7:") && ContainsSubstring("two recipes"));
    CHECK(trial_of(kSix + ltd + "[token_bypass]\nenabled = false\n").token_dropping->dropper ==
          &engine::token_dropper("random_ltd"));
    CHECK_THROWS_WITH(trial_of("[model]\nlayers = 2\n[train]\nbudget_tokens = 100_000\n" + bypass),
                      ContainsSubstring("model.layers is 2"));
    CHECK(
        trial_of("[model]\nlayers = 2\n[train]\nbudget_tokens = 100_000\n" + bypass + "layers = [1]\n").token_dropping);
}

TEST_CASE("token droppers survive JSON, hash and all") {
    for (const char* table : {"[random_ltd]\nsteps = 7\n", "[random_ltd]\nmin = 32\nmax = 32\nkeep_first = 2\n",
                              "[random_ltd]\nduration = 0.3\nlayers = [0, 5]\npacing = \"root\"\nroot_degree = 3\n",
                              "[token_bypass]\nduration = 0.3\nspecial_tokens = [3]\ndecay = 0.5\n"}) {
        const TrialConfig config = test::resolved_trial(kSix + table),
                          again = from_json(Json::parse(to_json(config).dump()));
        CHECK(to_json(again) == to_json(config));
        CHECK(config_hash(again) == config_hash(config));
    }
    CHECK(config_hash(test::resolved_trial(kSix + "[random_ltd]\nsteps = 7\nlayers = \"1-3\"\n")) !=
          config_hash(test::resolved_trial(kSix + "[random_ltd]\nsteps = 7\n")));
    CHECK(config_hash(test::resolved_trial(kSix + "[token_bypass]\nsteps = 7\n")) !=
          config_hash(test::resolved_trial(kSix + "[random_ltd]\nsteps = 7\n")));
}

TEST_CASE("a projection counts the layers that drop tokens") {
    // 32 of 64 tokens in 3 of 6 layers: 48 layer tokens a sample, 384 a step.
    const Projection projection = project(trial_of(kSix + "[token_bypass]\nmin = 32\nmax = 32\n"));
    CHECK(projection.steps == 261);  // ceil(100000 / 384)
    CHECK(projection.input_tokens == 261 * 512);
}
