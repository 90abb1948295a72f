// The trial's configuration: strictness, defaults, hashes, the way through JSON.

#include "experiments/config.h"
#include "base/json.h"

#include "base/files.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::resolved_trial;
using test::trial_of;
using test::wrong_trial;

namespace {

const std::string kPlain = "[train]\nbudget_tokens = 100_000\n";

}  // namespace

TEST_CASE("what makes no sense is refused with its place", "[bare]") {
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 100_000\nlearning_rat = 1\n"), ContainsSubstring("t.toml:3:"));
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 100_000\nlearning_rat = 1\n"), ContainsSubstring("learning_rate"));
    CHECK_THAT(wrong_trial("[model]\nwidth = 65\nheads = 2\n" + kPlain), ContainsSubstring("t.toml:2:"));
    CHECK_THAT(wrong_trial("[model]\nlayers = 4\n"), ContainsSubstring("budget_tokens"));
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 511\n"), ContainsSubstring("less than one step"));
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 1000\nbudget_fraction = 0.5\n"),
               ContainsSubstring("less than one step"));
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 0\n"),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("names no model to import"));
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = -1\n"), ContainsSubstring("less than one step"));
    CHECK_THAT(wrong_trial("[train]\nepochs = 0\n"), ContainsSubstring("set start.from and budget_tokens = 0"));
    CHECK_THAT(wrong_trial(kPlain + "decay = \"cosin\"\n"), ContainsSubstring("did you mean \"cosine\"?"));
    for (const char* rate : {"-1.0", "0", "0.0"})
        CHECK_THAT(wrong_trial(kPlain + "learning_rate = " + rate + "\n"), ContainsSubstring("above 0"));
    CHECK_THAT(wrong_trial(kPlain + "learning_rate = nan\n"), ContainsSubstring("t.toml:3"));
    CHECK_THAT(wrong_trial("[data]\ncorpus = \"text\"\n" + kPlain), ContainsSubstring("train_files"));
    CHECK_THAT(wrong_trial(kPlain + "[random_ltd]\nmin = 16\n"), ContainsSubstring("exactly one"));
    CHECK_THAT(wrong_trial("[model]\nlayers = 2\n" + kPlain + "[random_ltd]\nmin = 16\nduration = 0.5\n"),
               ContainsSubstring("layers"));
    CHECK_THAT(wrong_trial(kPlain + "[curriculum.seqtru]\nmin = 100\nduration = 0.5\n"),
               ContainsSubstring("above max"));
    CHECK_THAT(wrong_trial(kPlain + "[eval]\ntasks = [\"embeded_questions\"]\n"),
               ContainsSubstring("embedded_questions"));
}

TEST_CASE("a technique that is switched off is absent", "[bare]") {
    CHECK_FALSE(trial_of(kPlain + "[random_ltd]\nenabled = false\nmin = 16\n").token_dropping.has_value());
    CHECK(trial_of(kPlain + "[random_ltd]\nmin = 16\nduration = 0.5\n").token_dropping.has_value());
}

TEST_CASE("a configuration survives JSON, hash and all", "[bare]") {
    const TrialConfig config = resolved_trial(kPlain +
                                              "[curriculum.seqtru]\nmin = 16\npacing = \"root\"\nduration = 0.384\n"
                                              "[curriculum.voc]\nmin = 2\nsteps = 20\n[random_ltd]\n"
                                              "min = 8\nsteps = 40\n[eval]\ntasks = [\"embedded_questions\"]\n");
    const TrialConfig again = from_json(Json::parse(to_json(config).dump()));
    CHECK(to_json(again) == to_json(config));
    CHECK(config_hash(again) == config_hash(config));
    CHECK(variant_hash(again) == variant_hash(config));
}

TEST_CASE("hashes see what decides the result and nothing else", "[bare]") {
    const TrialConfig config = resolved_trial(kPlain);
    TrialConfig other = config;
    other.log_every = 99;
    other.base_folder = "/elsewhere";
    CHECK(config_hash(other) == config_hash(config));
    other = config;
    other.seed = 2;
    CHECK(config_hash(other) != config_hash(config));
    CHECK(variant_hash(other) == variant_hash(config));
    other = config;
    other.train.learning_rate *= 1.0000001;
    CHECK(variant_hash(other) != variant_hash(config));
    other = config;
    other.data.sha256 = "another corpus";
    CHECK(variant_hash(other) != variant_hash(config));
}

TEST_CASE("durations are fractions of the baseline's steps at the budget", "[bare]") {
    // ceil(100000 / (8 * 64)) = 196 steps; 0.384 of them is 75.26.
    const auto trainer = trainer_config(trial_of(kPlain + "[curriculum.seqtru]\nmin = 16\nduration = 0.384\n"));
    CHECK(trainer.techniques.seqtru->duration == 75);
    const auto half = trainer_config(
        trial_of("[train]\nbudget_tokens = 100_000\nbudget_fraction = 0.5\n[random_ltd]\nmin = 16\nduration = 0.7\n"));
    CHECK(half.budget_layer_tokens == 50'000);
    CHECK(half.techniques.dropping->kept.duration == 69);  // 0.7 * 98 = 68.6
}

TEST_CASE("a projection is the schedule run without training", "[bare]") {
    const Projection projection = project(trial_of(kPlain));
    CHECK(projection.steps == 196);
    CHECK(projection.input_tokens == 196 * 512);
    CHECK(projection.layer_tokens == 196 * 512);
    CHECK(projection.memory_bytes > 4 * projection.parameters * 4);  // weights, gradients, two moments
}

TEST_CASE("a budget that is a whole number of steps has no step more", "[reference-defect][bare]") {
    CHECK(project(trial_of("[train]\nbudget_tokens = 102_400\n")).steps == 200);
    CHECK(project(trial_of("[train]\nbudget_tokens = 102_401\n")).steps == 201);
}

TEST_CASE("a missing and an empty corpus are named", "[bare]") {
    TrialConfig config =
        trial_of("[data]\ncorpus = \"text\"\ntrain_files = [\"no.txt\"]\nvalid_files = [\"no.txt\"]\n" + kPlain);
    CHECK_THROWS_WITH(resolve_data(config), ContainsSubstring("no.txt") && ContainsSubstring("DEFT_DATA_MIRROR"));
    config.data.train_files = config.data.valid_files = {"/tmp/deft-empty-corpus.txt"};
    write_file_atomically(config.data.train_files[0], "");
    CHECK_THROWS_WITH(resolve_data(config), ContainsSubstring("is empty"));
    std::filesystem::remove(config.data.train_files[0]);
}

TEST_CASE("sizes beyond all reason are refused by name, and at once", "[bare]") {
    const auto refused = [](const std::string& toml) { return wrong_trial(toml); };
    const std::string data = "[data]\nembedded_bytes = 5000\n", train = "[train]\nbudget_tokens = 51200\n";
    for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
             {data + train + "[model]\nwidth = 4611686018427387904\n", "model.width is 4611686018427387904"},
             {data + train + "[model]\nlayers = 4611686018427387904\n", "model.layers is"},
             {data + train + "[model]\nseqlen = 4611686018427387904\n", "model.seqlen is"},
             {data + train + "[model]\nheads = 4611686018427387904\n", "model.heads"},
             {data + train + "batch_size = 4611686018427387904\n", "train.batch_size is"},
             {data + "[train]\nbudget_tokens = 1000000000000000000\n", "train.budget_tokens is"},
             {data + "[train]\nbudget_tokens = 1000000000000000\n", "train.budget_tokens takes"},
             {data + train + "budget_fraction = 1e300\n", "train.budget_fraction is 1e+300"},
             {data + train + "[eval]\ndocuments = 4611686018427387904\n", "eval.documents is"},
             {"[data]\nembedded_bytes = 4611686018427387904\n" + train, "data.embedded_bytes is"},
             {"[data]\nembedded_bytes = 5000\ntokenizer = \"bpe\"\nvocab = 4611686018427387904\n" + train,
              "data.vocab is"},
             {"[data]\nembedded_bytes = 5000\nsplit = [4611686018427387904, 4611686018427387904, 1]\n" + train,
              "data.split"},
             {data + train + "[curriculum.seqtru]\nsteps = 4611686018427387904\n", "curriculum.seqtru.steps is"},
             {data + train + "[curriculum.seqtru]\nduration = 1e300\n", "curriculum.seqtru.duration is"},
             {data + train + "[batch_ramp]\nsteps = 4611686018427387904\n", "batch_ramp.steps is"},
             {data + train + "[variable_batch]\nmax_tokens = 4611686018427387904\n", "variable_batch.max_tokens is"},
             {data + "[train]\nbudget_tokens = 1000000000000000\nbatch_size = 16777216\n"
                     "[model]\nwidth = 1048576\nheads = 1\nlayers = 10000\n",
              "need buffers of"}}) {
        INFO(text);
        CHECK_THAT(refused(text), ContainsSubstring(key) && ContainsSubstring(":"));
    }
}

TEST_CASE("numbers that are not finite are refused by key and line", "[bare]") {
    for (const char* value : {"nan", "inf", "-inf"}) {
        INFO(value);
        CHECK_THAT(
            wrong_trial("[data]\nembedded_bytes = 5000\n[train]\nbudget_tokens = 51200\nlearning_rate = " +
                        std::string(value) + "\n"),
            ContainsSubstring(":5:") && ContainsSubstring("train.learning_rate is") && ContainsSubstring("finite"));
    }
    CHECK_THAT(wrong_trial("[train]\nbudget_tokens = 51200\n[curriculum.seqtru]\nsteps = 5\npacing = \"points\"\n"
                           "points = [[0, 8], [nan, 16], [1, 64]]\n"),
               ContainsSubstring("curriculum.seqtru.points"));
}
