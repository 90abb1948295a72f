// Layers of experts in a trial's configuration.

#include "base/json.h"
#include "base/score_key.h"
#include "experiments/config.h"
#include "experiments/engine_config.h"
#include "experiments/model_kinds.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::resolved_trial;
using test::trial_of;
using test::wrong_trial;

namespace {

std::string with_expert_layers(const std::string& keys, const std::string& model = "layers = 4\n") {
    return "[model]\n" + model + "[model.experts]\n" + keys + "[train]\nbudget_tokens = 100_000\n";
}

}  // namespace

TEST_CASE("expert layers are every second one, a list or a range, of one count or of one each") {
    using Numbers = std::vector<std::int64_t>;
    const ExpertLayersConfig plain = trial_of(with_expert_layers("count = 8\n")).model.experts;
    CHECK(plain.layers == Numbers{1, 3});
    CHECK(plain.count == Numbers{8, 8});
    CHECK(plain.top == 1);
    const ExpertLayersConfig listed =
        trial_of(with_expert_layers("count = [4, 8]\nlayers = [0, 3]\ntop = 2\n")).model.experts;
    CHECK(listed.layers == Numbers{0, 3});
    CHECK(listed.count == Numbers{4, 8});
    CHECK(trial_of(with_expert_layers("count = 2\nlayers = \"every 3\"\n")).model.experts.layers == Numbers{2});
    CHECK(trial_of(with_expert_layers("count = 2\nlayers = \"1-3\"\n")).model.experts.layers == Numbers{1, 2, 3});
    CHECK(trial_of(with_expert_layers("count = 2\nenabled = false\n")).model.experts == ExpertLayersConfig{});
    CHECK(trial_of("[model]\n[train]\nbudget_tokens = 100_000\n").model.experts == ExpertLayersConfig{});
}

TEST_CASE("expert layers that make no sense are refused with their place") {
    const auto wrong = [](const std::string& keys) { return wrong_trial(with_expert_layers(keys)); };
    CHECK_THAT(wrong("count = 4\ntop = 5\n"),
               ContainsSubstring("t.toml:5:") && ContainsSubstring("a layer has 4 experts"));
    CHECK_THAT(wrong("count = [4, 2]\ntop = 3\ncapacity_factor = 0\n"), ContainsSubstring("a layer has 2 experts"));
    CHECK_THAT(wrong("count = 4\ncapacity_factor = -0.5\n"),
               ContainsSubstring("t.toml:5:") && ContainsSubstring("at least 0"));
    CHECK_THAT(wrong("count = 4\nlayers = [1, 4]\n"), ContainsSubstring("names layer 4; model.layers is 4"));
    CHECK_THAT(wrong("count = 4\nlayers = [3, 1]\n"), ContainsSubstring("names 1 after 3"));
    CHECK_THAT(wrong("count = 4\nlayers = []\n"), ContainsSubstring("is empty"));
    CHECK_THAT(wrong("count = 4\nlayers = \"every 5\"\n"), ContainsSubstring("selects no layer of model.layers = 4"));
    CHECK_THAT(wrong("count = 4\nlayers = \"every\"\n"), ContainsSubstring("is not a range"));
    CHECK_THAT(wrong("count = [4]\nlayers = [1, 2, 3]\ntop = 1\nlayer = 1\n"), ContainsSubstring("layers"));
    CHECK_THAT(wrong("count = [4, 8, 8]\n"), ContainsSubstring("has length 3, but the model has 2 expert layers"));
    CHECK_THAT(wrong("count = [4]\n"), ContainsSubstring("has length 1, but the model has 2 expert layers"));
    CHECK_THAT(wrong("count = 0\n"), ContainsSubstring("at least 1"));
    CHECK_THAT(wrong("top = 1\n"), ContainsSubstring("count") && ContainsSubstring("is missing"));
    CHECK_THAT(wrong("count = 4\ntop = 3\n"), ContainsSubstring("set it to 0 to drop no tokens"));
    CHECK_THAT(wrong_trial(with_expert_layers("count = 4\n", "layers = 1\n")),
               ContainsSubstring("selects none of one layer"));
}

TEST_CASE("experts go into the model, its hash and through JSON, and models without them keep their hashes") {
    const TrialConfig dense = resolved_trial("[model]\nlayers = 4\n[train]\nbudget_tokens = 100_000\n");
    const TrialConfig config = resolved_trial(
        with_expert_layers("count = [4, 6]\ntop = 2\ncapacity_factor = 1.25\nmin_capacity = 2\nrandom_token_selection "
                           "= false\njitter = 0.01\n"
                           "sampled_noise = true\naux_weight = 0.02\nz_weight = 0.001\nresidual = true\n"));
    CHECK_FALSE(to_json(dense).at("model").contains("experts"));
    CHECK(config_hash(config) != config_hash(dense));
    const TrialConfig again = from_json(to_json(config));
    CHECK(again.model.experts == config.model.experts);
    CHECK(config_hash(again) == config_hash(config));
    const engine::TransformerConfig model = transformer_config(config.model, 257);
    CHECK_FALSE(model.blocks[0].experts.has_value());
    REQUIRE(model.blocks[3].experts.has_value());
    CHECK(*model.blocks[3].experts == engine::ExpertsConfig{.count = 6,
                                                            .top = 2,
                                                            .capacity_factor = 1.25,
                                                            .min_capacity = 2,
                                                            .random_token_selection = false,
                                                            .jitter = 0.01,
                                                            .sampled_noise = true,
                                                            .aux_weight = 0.02,
                                                            .z_weight = 0.001,
                                                            .residual = true});
    CHECK(model_config(model).experts == config.model.experts);
    const Projection projection = project(config);
    // Width 64 and hidden 256: a token does not use 2 of 4 and 4 of 6 experts of a layer.
    CHECK(projection.parameters - projection.active_parameters == (2 + 4) * (2 * 64 * 256 + 256 + 64));
}

TEST_CASE("scoring under capacity is a key of its own, and decides the weights where the best ones are chosen by it") {
    const auto asking = [](const std::string& eval) {
        return resolved_trial(with_expert_layers("count = 4\n") + "batch_size = 8\nmicro_batch_size = 4\n[eval]\n" +
                              eval);
    };
    const TrialConfig plain = asking(""), none = asking("capacity = \"none\"\n"),
                      kept = asking("capacity = \"reference\"\n");
    CHECK(config_hash(kept) == config_hash(plain));
    CHECK(score_requests(none) == score_requests(plain));
    CHECK_FALSE(is_under_capacity(score_requests(plain)[0].key));
    CHECK(is_under_capacity(score_requests(kept)[0].key));
    CHECK(score_requests(from_json(to_json(kept))) == score_requests(kept));
    TrialConfig smaller = kept;  // capacity is counted over the rows of a micro-batch
    smaller.train.micro_batch_size = 2;
    CHECK(score_requests(smaller)[0].key != score_requests(kept)[0].key);
    const auto keeps = [](const TrialConfig& config) {
        return trainer_config(config).model.blocks[1].experts->scores_with_capacity;
    };
    CHECK(keeps(kept));
    CHECK_FALSE(keeps(plain));
    const std::string best = "select = \"best\"\nevery = \"5 times\"\n";
    CHECK(config_hash(asking(best + "capacity = \"reference\"\n")) != config_hash(asking(best)));
    CHECK(config_hash(asking(best + "capacity = \"none\"\n")) == config_hash(asking(best)));
}

TEST_CASE("scoring under capacity is refused of models that have none") {
    const std::string eval = "[eval]\ncapacity = \"reference\"\n";
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 100_000\n" + eval),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("the model has none"));
    CHECK_THAT(wrong_trial(with_expert_layers("count = 4\ncapacity_factor = 0\n") + eval),
               ContainsSubstring("t.toml:9:") && ContainsSubstring("set model.experts.capacity_factor"));
    CHECK_THAT(wrong_trial(with_expert_layers("count = 4\n") + "[eval]\ncapacity = \"all\"\n"),
               ContainsSubstring("reference"));
}
