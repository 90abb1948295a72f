// The trial's configuration: strictness, defaults, hashes, the way through JSON.

#include "base/json.h"
#include "experiments/config.h"

#include "base/files.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::experiments;

namespace {

const char* const kPlain = "[train]\nbudget_tokens = 100_000\n";

TrialConfig parse(const std::string& toml, std::int64_t seed = 1) {
    return parse_trial_config(parse_toml(toml, "t.toml"), seed, "/nowhere");
}

std::string error_of(const std::string& toml) {
    try {
        parse(toml);
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::config);
        return error.what();
    }
    FAIL("accepted: " << toml);
    return {};
}

TrialConfig resolved(const std::string& toml, std::int64_t seed = 1) {
    TrialConfig config = parse(toml, seed);
    config.data.embedded_bytes = 2000;
    resolve_data(config);
    return config;
}

}  // namespace

TEST_CASE("what makes no sense is refused with its place") {
    CHECK_THAT(error_of("[train]\nbudget_tokens = 100_000\nlearning_rat = 1\n"), ContainsSubstring("t.toml:3:"));
    CHECK_THAT(error_of("[train]\nbudget_tokens = 100_000\nlearning_rat = 1\n"), ContainsSubstring("learning_rate"));
    CHECK_THAT(error_of("[model]\nwidth = 65\nheads = 2\n" + std::string(kPlain)), ContainsSubstring("t.toml:2:"));
    CHECK_THAT(error_of("[model]\nlayers = 4\n"), ContainsSubstring("budget_tokens"));
    CHECK_THAT(error_of("[train]\nbudget_tokens = 511\n"), ContainsSubstring("less than one step"));
    CHECK_THAT(error_of("[train]\nbudget_tokens = 1000\nbudget_fraction = 0.5\n"),
               ContainsSubstring("less than one step"));
    CHECK_THAT(error_of(std::string(kPlain) + "decay = \"cosin\"\n"), ContainsSubstring("did you mean \"cosine\"?"));
    CHECK_THAT(error_of(std::string(kPlain) + "learning_rate = -1.0\n"), ContainsSubstring("at least 0"));
    CHECK_THAT(error_of(std::string(kPlain) + "learning_rate = nan\n"), ContainsSubstring("t.toml:3"));
    CHECK_THAT(error_of("[data]\ncorpus = \"text\"\n" + std::string(kPlain)), ContainsSubstring("train_files"));
    CHECK_THAT(error_of(std::string(kPlain) + "[random_ltd]\nmin = 16\n"), ContainsSubstring("exactly one"));
    CHECK_THAT(error_of("[model]\nlayers = 2\n" + std::string(kPlain) + "[random_ltd]\nmin = 16\nduration = 0.5\n"),
               ContainsSubstring("layers"));
    CHECK_THAT(error_of(std::string(kPlain) + "[curriculum.seqtru]\nmin = 100\nduration = 0.5\n"),
               ContainsSubstring("above max"));
    CHECK_THAT(error_of(std::string(kPlain) + "[eval]\ntasks = [\"embeded_questions\"]\n"),
               ContainsSubstring("embedded_questions"));
}

TEST_CASE("a technique that is switched off is absent") {
    CHECK_FALSE(parse(std::string(kPlain) + "[random_ltd]\nenabled = false\nmin = 16\n").random_ltd.has_value());
    CHECK(parse(std::string(kPlain) + "[random_ltd]\nmin = 16\nduration = 0.5\n").random_ltd.has_value());
}

TEST_CASE("a configuration survives JSON, hash and all") {
    const TrialConfig config = resolved(std::string(kPlain) +
                                        "[curriculum.seqtru]\nmin = 16\npacing = \"root\"\nduration = 0.384\n"
                                        "[curriculum.voc]\nmin = 2\nsteps = 20\n[random_ltd]\n"
                                        "min = 8\nsteps = 40\n[eval]\ntasks = [\"embedded_questions\"]\n");
    const TrialConfig again = from_json(Json::parse(to_json(config).dump()));
    CHECK(to_json(again) == to_json(config));
    CHECK(config_hash(again) == config_hash(config));
    CHECK(variant_hash(again) == variant_hash(config));
}

TEST_CASE("hashes see what decides the result and nothing else") {
    const TrialConfig config = resolved(kPlain);
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

TEST_CASE("durations are fractions of the baseline's steps at the budget") {
    // ceil(100000 / (8 * 64)) = 196 steps; 0.384 of them is 75.26.
    const auto trainer = trainer_config(parse(std::string(kPlain) + "[curriculum.seqtru]\nmin = 16\nduration = 0.384\n"));
    CHECK(trainer.techniques.seqtru->duration == 75);
    const auto half = trainer_config(
        parse("[train]\nbudget_tokens = 100_000\nbudget_fraction = 0.5\n[random_ltd]\nmin = 16\nduration = 0.7\n"));
    CHECK(half.budget_layer_tokens == 50'000);
    CHECK(half.techniques.routing->kept.duration == 69);  // 0.7 * 98 = 68.6
}

TEST_CASE("a projection is the schedule run without training") {
    const Projection projection = project(parse(kPlain));
    CHECK(projection.steps == 196);
    CHECK(projection.input_tokens == 196 * 512);
    CHECK(projection.layer_tokens == 196 * 512);
    CHECK(projection.memory_bytes > 4 * projection.parameters * 4);  // weights, gradients, two moments
}

TEST_CASE("a budget that is a whole number of steps has no step more", "[reference-defect]") {
    CHECK(project(parse("[train]\nbudget_tokens = 102_400\n")).steps == 200);
    CHECK(project(parse("[train]\nbudget_tokens = 102_401\n")).steps == 201);
}

TEST_CASE("a missing and an empty corpus are named") {
    TrialConfig config = parse("[data]\ncorpus = \"text\"\ntrain_files = [\"no.txt\"]\nvalid_files = [\"no.txt\"]\n" +
                               std::string(kPlain));
    CHECK_THROWS_WITH(resolve_data(config), ContainsSubstring("no.txt") && ContainsSubstring("DEFT_DATA_MIRROR"));
    config.data.train_files = config.data.valid_files = {"/tmp/deft-empty-corpus.txt"};
    write_file_atomically(config.data.train_files[0], "");
    CHECK_THROWS_WITH(resolve_data(config), ContainsSubstring("is empty"));
    std::filesystem::remove(config.data.train_files[0]);
}
