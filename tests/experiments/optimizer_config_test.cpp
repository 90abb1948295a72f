// The optimizer and the learning rate's schedule as a trial's configuration has them: what is refused, what is hashed,
// where a warm-up ends.

#include <algorithm>

#include "base/json.h"
#include "engine/train/accounting.h"
#include "experiments/config.h"
#include "experiments/engine_config.h"
#include "tests/catch.h"
#include "tests/experiments/known_data.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::trial_of;
using test::wrong_trial;

namespace {

// Steps of 8 samples of 64 tokens.
const std::string kTwoHundredSteps = "[train]\nbudget_tokens = 102_400\n";

engine::LearningRate schedule_of(const std::string& more) {
    return trainer_config(trial_of(kTwoHundredSteps + more)).learning_rate;
}

void check_train_refused(const std::string& more, const std::string& says, const std::string& fix, int line = 3) {
    INFO(more);
    const std::string said = wrong_trial(kTwoHundredSteps + more);
    CHECK_THAT(said, ContainsSubstring("t.toml:" + std::to_string(line) + ":") && ContainsSubstring(says) &&
                         ContainsSubstring(fix));
}

}  // namespace

TEST_CASE("two warm-ups are refused, and a zero is none") {
    check_train_refused("warmup_tokens = 500\nwarmup_steps = 3\n",
                        "train.warmup_steps cannot be combined with train.warmup_tokens", "keep one of them", 4);
    check_train_refused("warmup_share = 0.1\nwarmup_tokens = 500\n",
                        "train.warmup_share cannot be combined with train.warmup_tokens", "keep one of them");
    check_train_refused("warmup_share = 0.1\nwarmup_steps = 3\n",
                        "train.warmup_share cannot be combined with train.warmup_steps", "keep one of them");
    check_train_refused("warmup_share = 1\n", "must be in [0, 1)", "");
    check_train_refused("warmup_steps = -1\n", "at least 0", "");
    CHECK(schedule_of("warmup_tokens = 0\nwarmup_share = 0\nwarmup_steps = 3\n").warmup_steps == 3);
}

TEST_CASE("a warm-up of a share follows the budget of the trial") {
    CHECK(schedule_of("").warmup_tokens == 0);
    CHECK(schedule_of("warmup_share = 0.1\n").warmup_tokens == 10'240);
    CHECK(schedule_of("warmup_share = 0.1\nbudget_fraction = 0.5\n").warmup_tokens == 5'120);
    CHECK(schedule_of("warmup_tokens = 10_240\nbudget_fraction = 0.5\n").warmup_tokens == 10'240);
    CHECK(schedule_of("warmup_share = 0.1\n").warmup_steps == 0);
}

TEST_CASE("decay begins at the tokens that a warm-up of steps has, and the schedule is the trainer's") {
    const engine::LearningRate plain = schedule_of("warmup_steps = 10\nlearning_rate = 0.5\ndecay = \"linear\"\n");
    CHECK(plain.warmup_steps == 10);
    CHECK(plain.warmup_tokens == 10 * 512);
    CHECK(learning_rate_at(plain, 5, 5 * 512) == 0.25);
    CHECK(learning_rate_at(plain, 10, 10 * 512) == 0.5);
    CHECK(learning_rate_at(plain, 105, 105 * 512) == Approx(0.25));  // halfway through the other 190 steps
    // Cut to 16 and 24 tokens: steps are shorter.
    const engine::TrainerConfig cut = trainer_config(
        trial_of(kTwoHundredSteps + "warmup_steps = 2\n[curriculum.seqtru]\nmin = 8\nmax = 64\nsteps = 7\n"));
    CHECK(cut.learning_rate.warmup_tokens == 8 * (16 + 24));
    // Beyond the budget it rises to the end.
    const engine::LearningRate longer = schedule_of("warmup_steps = 100_000_000\nlearning_rate = 1\n");
    CHECK(learning_rate_at(longer, 100, 100 * 512) == Approx(1e-6));
}

TEST_CASE("the optimizer's and the decay's own keys are refused beside another choice") {
    const std::string sgd = "optimizer = \"sgd\"\n", step = "decay = \"step\"\n";
    for (const char* key : {"beta1", "beta2", "eps"})
        check_train_refused(sgd + key + " = 0.5\n",
                            "train." + std::string(key) + " has no effect without train.optimizer = \"adamw\"",
                            "drop the key, or set train.optimizer = \"adamw\"", 4);
    check_train_refused("momentum = 0.9\n", "train.momentum has no effect without train.optimizer = \"sgd\"",
                        "set train.optimizer = \"sgd\"");
    check_train_refused("decay_factor = 10\n", "train.decay_factor has no effect without train.decay = \"step\"",
                        "set train.decay = \"step\"");
    check_train_refused("decay = \"linear\"\ndecay_stages = 3\n",
                        "train.decay_stages has no effect without train.decay = \"step\"", "set train.decay = \"step\"",
                        4);
    check_train_refused(step + "min_learning_rate = 1e-5\n", "has no effect with train.decay = \"step\"", "set it to 0",
                        4);
    check_train_refused(step + "decay_stages = 0\n", "at least 1", "", 4);
    check_train_refused(step + "decay_factor = 0.5\n", "at least 1", "", 4);
    check_train_refused("optimizer = \"sdg\"\n", "did you mean \"sgd\"?", "");
    CHECK(trial_of(kTwoHundredSteps + step + "min_learning_rate = 0\n").train.decay == engine::Decay::step);
}

TEST_CASE("the published ViT recipe reaches the trainer") {
    const engine::TrainerConfig trainer = trainer_config(
        trial_of(kTwoHundredSteps + "optimizer = \"sgd\"\nlearning_rate = 5e-5\nmomentum = 0.8\nweight_decay = 1e-4\n"
                                    "max_grad_norm = 0\ndecay = \"step\"\ndecay_factor = 4\ndecay_stages = 5\n"));
    CHECK(trainer.optimizer.kind == engine::OptimizerKind::sgd);
    CHECK(trainer.optimizer.momentum == 0.8);
    CHECK(trainer.optimizer.weight_decay == 1e-4);
    CHECK(trainer.optimizer.max_grad_norm == 0);
    CHECK(trainer.learning_rate.decay == engine::Decay::step);
    CHECK(trainer.learning_rate.decay_factor == 4);
    CHECK(trainer.learning_rate.decay_stages == 5);
    CHECK(trainer.learning_rate.decay_tokens == 102'400);
    const engine::TrainerConfig plain =
        trainer_config(trial_of(kTwoHundredSteps + "optimizer = \"sgd\"\ndecay = \"step\"\n"));
    CHECK(plain.optimizer.momentum == 0.9);
    CHECK(plain.learning_rate.decay_factor == 10);
    CHECK(plain.learning_rate.decay_stages == 3);
}

TEST_CASE("keys of the optimizer and its schedule are hashed where they are used, and survive JSON") {
    const auto config_of = [](const std::string& more) { return test::with_known_data(kTwoHundredSteps + more); };
    const TrialConfig plain = config_of("");
    for (const char* key : {"optimizer", "momentum", "warmup_steps", "warmup_share", "decay_factor", "decay_stages"})
        CHECK(!to_json(plain).at("train").contains(key));
    CHECK(config_hash(config_of("optimizer = \"adamw\"\nwarmup_steps = 0\nwarmup_share = 0\n")) == config_hash(plain));
    std::vector<std::string> hashes = {config_hash(plain)};
    for (const char* more : {"warmup_steps = 5\n", "warmup_steps = 6\n", "warmup_share = 0.1\n",
                             "optimizer = \"sgd\"\n", "optimizer = \"sgd\"\nmomentum = 0.5\n", "decay = \"step\"\n",
                             "decay = \"step\"\ndecay_factor = 2\n", "decay = \"step\"\ndecay_stages = 4\n"}) {
        INFO(more);
        const TrialConfig config = config_of(more);
        CHECK(to_json(from_json(to_json(config))) == to_json(config));
        const TrialConfig again = from_json(to_json(config));
        CHECK(config_hash(again) == config_hash(config));
        CHECK(trainer_config(again).learning_rate.warmup_tokens == trainer_config(config).learning_rate.warmup_tokens);
        CHECK(std::find(hashes.begin(), hashes.end(), config_hash(config)) == hashes.end());
        hashes.push_back(config_hash(config));
    }
    const Json sgd = to_json(config_of("optimizer = \"sgd\"\n")).at("train");
    for (const char* key : {"beta1", "beta2", "eps"}) CHECK(!sgd.contains(key));
}

TEST_CASE("which ranks have which experts is in no hash, and survives JSON") {
    const auto config_of = [](const std::string& more) { return test::with_known_data(kTwoHundredSteps + more); };
    const TrialConfig plain = config_of(""), divided = config_of("expert_ranks = 4\n");
    CHECK(config_hash(divided) == config_hash(plain));
    CHECK(variant_hash(divided) == variant_hash(plain));
    CHECK(trainer_config(plain).expert_ranks == 1);
    CHECK(trainer_config(from_json(to_json(divided))).expert_ranks == 4);
    CHECK(to_json(config_of("expert_ranks = 1\n")) == to_json(plain));
    check_train_refused("expert_ranks = 0\n", "train.expert_ranks is 0", "must be at least 1");
}

TEST_CASE("what is computed again is in no hash, survives JSON, and has four values") {
    const auto config_of = [](const std::string& more) { return test::with_known_data(kTwoHundredSteps + more); };
    const TrialConfig plain = config_of(""), chosen = config_of("recompute = \"auto\"\n");
    CHECK(config_hash(chosen) == config_hash(plain));
    CHECK(variant_hash(chosen) == variant_hash(plain));
    CHECK(from_json(to_json(chosen)).train.recompute == RecomputeChoice::automatic);
    CHECK(to_json(config_of("recompute = \"none\"\n")) == to_json(plain));
    CHECK(trainer_config(chosen).recompute == engine::Recompute::none);
    CHECK(trainer_config(config_of("recompute = \"activation\"\n")).recompute == engine::Recompute::activation);
    CHECK(trainer_config(config_of("recompute = \"block\"\n")).recompute == engine::Recompute::block);
    check_train_refused("recompute = \"all\"\n", "train.recompute", "none, activation, block, auto");
}

TEST_CASE("how the optimizer's moments are stored is hashed, survives JSON, and reaches the trainer") {
    const auto config_of = [](const std::string& more) { return test::with_known_data(kTwoHundredSteps + more); };
    const TrialConfig plain = config_of("");
    CHECK(!to_json(plain).at("train").contains("moments"));
    CHECK(!trainer_config(plain).optimizer.rounds_moments);
    CHECK(config_hash(config_of("moments = \"f32\"\n")) == config_hash(plain));
    for (const std::string optimizer : {"", "optimizer = \"sgd\"\n"}) {
        const TrialConfig rounded = config_of(optimizer + "moments = \"bf16\"\n");
        CHECK(config_hash(rounded) != config_hash(config_of(optimizer)));
        CHECK(variant_hash(rounded) != variant_hash(config_of(optimizer)));
        CHECK(trainer_config(from_json(to_json(rounded))).optimizer.rounds_moments);
    }
    check_train_refused("moments = \"f16\"\n", "train.moments", "f32, bf16");
}

TEST_CASE("where the optimizer's moments are is in no hash, survives JSON, and is 0 or 1") {
    const auto config_of = [](const std::string& more) { return test::with_known_data(kTwoHundredSteps + more); };
    const TrialConfig plain = config_of(""), shared = config_of("zero = 1\n");
    CHECK(config_hash(shared) == config_hash(plain));
    CHECK(variant_hash(shared) == variant_hash(plain));
    CHECK(trainer_config(plain).zero == 0);
    CHECK(trainer_config(from_json(to_json(shared))).zero == 1);
    CHECK(to_json(from_json(to_json(shared))) == to_json(shared));
    CHECK(to_json(config_of("zero = 0\n")) == to_json(plain));
    CHECK(!to_json(plain).at("local").contains("zero"));
    CHECK(!to_json(shared).at("local").contains("recompute"));
    check_train_refused("zero = 2\n", "train.zero is 2", "must be at most 1");
    check_train_refused("zero = -1\n", "train.zero is -1", "must be at least 0");
}
