// Validation while a model trains: when it happens, what it leaves alone, which weights are the best.

#include "experiments/training_validation.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "base/score_key.h"
#include "engine/train/checkpoint.h"
#include "experiments/engine_config.h"
#include "tests/experiments/whole_trial.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
namespace fs = std::filesystem;

namespace {

engine::Counts counts(std::int64_t steps, std::int64_t layer_tokens) {
    engine::Counts made;
    made.steps = steps;
    made.layer_tokens = layer_tokens;
    return made;
}

using Curve = std::map<std::pair<std::int64_t, std::string>, double>;  // by step and metric

// A trial of 24 steps whose learning rate is so high that its validation loss does not fall to the end.
struct Trial {
    explicit Trial(const std::string& eval, double learning_rate = 0.3) {
        config = parse_trial_config(
            parse_toml("[model]\nlayers = 1\nwidth = 16\nheads = 2\nseqlen = 16\n[data]\nembedded_bytes = 3000\n"
                       "[train]\nbatch_size = 4\nbudget_tokens = 1536\ndecay = \"constant\"\nlearning_rate = " +
                           std::to_string(learning_rate) + "\n[eval]\nvalidation_tokens = 100\n" + eval,
                       "t.toml"),
            1, folder.path());
        config.log_every = 5;
        resolve_data(config);
    }

    int run(
        const std::function<bool()>& stop = [] { return false; }, bool resume = false) {
        TrialPlaces places{folder.path(), folder / "data", folder / "checkpoints"};
        places.resume = resume;
        return run_trial(config, places, {}, stop);
    }

    std::vector<Json> lines(const std::string& type) const { return test::journal_records(folder.path(), type); }

    // Entries that were journalled twice must be equal.
    Curve curve() const {
        Curve values;
        for (const Json& line : lines("evaluation")) {
            const double value = line.at("value");
            const auto [place, is_new] =
                values.insert({{line.at("step").get<std::int64_t>(), line.at("metric")}, value});
            if (!is_new) CHECK(place->second == value);
            CHECK(line.at("score_key") == kWhileTraining);
        }
        return values;
    }

    std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> found;
        for (const auto& [place, value] : curve())
            if (place.second == "loss") found.push_back(place.first);
        return found;
    }

    std::int64_t best_step() const {
        std::int64_t best = 0;
        double least = 1e9;
        for (const auto& [place, value] : curve())
            if (place.second == "loss" && value < least) {
                least = value;
                best = place.first;
            }
        return best;
    }

    test::TemporaryFolder folder;
    TrialConfig config;
};

std::int64_t due(const std::string& every, const engine::Counts& counts) {
    return validations_due(parse_validation_schedule(every), counts, 1000);
}

}  // namespace

TEST_CASE("validations are due by times, steps or a share of the run's layer-averaged tokens") {
    CHECK(due("", counts(7, 1000)) == 0);
    CHECK(due("4 times", counts(7, 249)) == 0);
    CHECK(due("4 times", counts(7, 250)) == 1);
    CHECK(due("4 times", counts(7, 999)) == 3);
    CHECK(due("4 times", counts(7, 1000)) == 4);
    CHECK(due("3 steps", counts(2, 999)) == 0);
    CHECK(due("3 steps", counts(7, 1)) == 2);
    CHECK(due("2.5%", counts(1, 24)) == 0);
    // Tenths of a percent of several budgets, against integers: most of these products are not exact in binary.
    std::int64_t wrong = 0;
    for (const std::int64_t budget : {7, 30, 333, 999, 1100, 4096})
        for (std::int64_t tenths = 1; tenths < 100; ++tenths) {
            const auto schedule =
                parse_validation_schedule(std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%");
            for (std::int64_t tokens = 0; tokens <= budget; ++tokens)
                wrong += validations_due(schedule, counts(1, tokens), budget) != tokens * 1000 / (budget * tenths);
        }
    CHECK(wrong == 0);
    CHECK(due("2.5%", counts(1, 25)) == 1);
    CHECK(due("2.5 %", counts(1, 74)) == 2);
    const auto on_the_way = [](const std::string& every, std::int64_t steps) {
        return validates_during_training(parse_validation_schedule(every), steps);
    };
    CHECK_FALSE(on_the_way("", 100));
    CHECK_FALSE(on_the_way("1 times", 100));
    CHECK(on_the_way("2 times", 100));
    CHECK_FALSE(on_the_way("100 steps", 100));
    CHECK(on_the_way("99 steps", 100));
    CHECK(on_the_way("99%", 100));
    CHECK_FALSE(on_the_way("100%", 100));
    for (int k = 1; k <= 1000; ++k) CHECK(due("1000 times", counts(1, k)) == k);
    for (const char* text : {"20", "times", "0 times", "-1 steps", "1.5 steps", "0.5 times", "101%", "5 percent",
                             "nan%", " 5%", "5% ", "inf times", "1000001 times", "0.00001%"})
        CHECK_THAT(test::refusal(ErrorKind::config, [&] { parse_validation_schedule(text); }),
                   ContainsSubstring("is not a schedule of validations"));
}

TEST_CASE("eval.every, eval.select and eval.metric that make no sense together are refused with their place") {
    const auto refused = [](const std::string& eval) {
        return test::refusal(ErrorKind::config, [&] { Trial trial(eval); });
    };
    CHECK_THAT(refused("every = \"often\"\n"), ContainsSubstring("t.toml:") && ContainsSubstring("eval.every"));
    CHECK_THAT(refused("select = \"best\"\n"), ContainsSubstring("set eval.every"));
    CHECK_THAT(refused("metric = \"bits_per_byte\"\n"), ContainsSubstring("eval.metric has no effect"));
    CHECK_THAT(refused("every = \"5%\"\nselect = \"first\"\n"), ContainsSubstring("eval.select"));
}

TEST_CASE("a model validated while it trains has the weights of one that is not, and the same hash") {
    Trial plain(""), validated("every = \"4 times\"\n");
    CHECK(config_hash(plain.config) == config_hash(validated.config));
    REQUIRE(plain.run() == 0);
    REQUIRE(validated.run() == 0);
    CHECK(plain.lines("evaluation").empty());
    CHECK(validated.steps() == std::vector<std::int64_t>{6, 12, 18});  // the end is the scoring's
    CHECK(plain.lines("artifact").at(0).at("sha256") == validated.lines("artifact").at(0).at("sha256"));
    std::vector<std::int64_t> logged;
    for (const Json& line : validated.lines("train")) logged.push_back(line.at("step"));
    CHECK(logged == std::vector<std::int64_t>{5, 6, 10, 12, 15, 18, 20, 24});
    CHECK(validated.lines("ended").at(0).at("eval_seconds").get<double>() > 0);
    CHECK(plain.lines("ended").at(0).at("eval_seconds").get<double>() == 0);
}

TEST_CASE("what chooses the best weights is in the hash, and survives its JSON") {
    const Trial last("every = \"4 times\"\n"), best("every = \"4 times\"\nselect = \"best\"\n"),
        oftener("every = \"5 times\"\nselect = \"best\"\n"),
        other("every = \"4 times\"\nselect = \"best\"\nmetric = \"bits_per_byte\"\n");
    CHECK(config_hash(best.config) != config_hash(last.config));
    CHECK(config_hash(best.config) != config_hash(oftener.config));
    CHECK(config_hash(best.config) != config_hash(other.config));
    CHECK(config_hash(from_json(to_json(best.config))) == config_hash(best.config));
    TrialConfig more_text = best.config;
    more_text.eval.validation_tokens = 200;
    CHECK(config_hash(more_text) != config_hash(best.config));
}

TEST_CASE("the best validated weights are the result, and score as they did on the way") {
    Trial trial("every = \"1 steps\"\nselect = \"best\"\n");
    REQUIRE(trial.run() == 0);
    CHECK(trial.steps().size() == 24);
    const std::int64_t best = trial.best_step();
    REQUIRE(best < 24);  // or the learning rate above is too low for this test
    const Json artifact = trial.lines("artifact").at(0);
    CHECK(artifact.at("role") == "best");
    CHECK(artifact.at("step") == best);
    const fs::path kept = result_checkpoint(trial.folder / "checkpoints").value();
    CHECK(kept.filename().string().starts_with("best_"));
    CHECK_FALSE(fs::exists(kept / "optimizer.safetensors"));
    CHECK(artifact.at("sha256") == engine::verify_checkpoint(kept).at("sha256").at("model.safetensors"));

    REQUIRE(trial.run([] { return false; }, true) == 0);  // as after a kill before its last line
    CHECK(trial.lines("artifact").at(1) == artifact);
    const Curve on_the_way = trial.curve();
    fs::remove(trial.folder / "journal.jsonl");
    REQUIRE(score_trial(trial.config, test::score_keys(trial.config),
                        {trial.folder.path(), trial.folder / "data", kept}, {}, [] { return false; }) == 0);
    for (const Json& line : trial.lines("evaluation"))
        CHECK(on_the_way.at({best, line.at("metric")}) == line.at("value").get<double>());
    CHECK(trial.lines("scored").at(0).at("step") == best);
}

TEST_CASE("a model that is best at its end keeps its last checkpoint alone") {
    Trial trial("every = \"4 times\"\nselect = \"best\"\n", 0.001);
    REQUIRE(trial.run() == 0);
    REQUIRE(trial.best_step() == 24);
    CHECK(trial.steps() == std::vector<std::int64_t>{6, 12, 18, 24});
    CHECK(trial.lines("artifact").at(0).at("role") == "final");
    CHECK(trial.lines("artifact").at(0).at("step") == 24);
    CHECK(result_checkpoint(trial.folder / "checkpoints").value().filename() == "step_00000024");
    REQUIRE(trial.run([] { return false; }, true) == 0);  // as after a kill before its last line
    CHECK(trial.lines("artifact").at(1).at("sha256") == trial.lines("artifact").at(0).at("sha256"));
    CHECK(trial.lines("artifact").at(1).at("role") == "final");
}

TEST_CASE("a trial that is stopped anywhere validates as one that is not, and ends with the same best weights") {
    const std::string eval = "every = \"2 steps\"\nselect = \"best\"\n";
    Trial whole(eval);
    REQUIRE(whole.run() == 0);
    for (const int patience : {0, 1, 2, 3, 7, 20}) {
        Trial stopped(eval);
        int runs = 0;
        while (true) {
            REQUIRE(++runs < 200);
            int asked = 0;
            const int code = stopped.run([&] { return ++asked > patience + runs; }, runs > 1);
            if (code == 0) break;
            REQUIRE(code == kExitWorkLeft);
        }
        CHECK(runs > 1);
        CHECK(stopped.curve() == whole.curve());
        for (const char* key : {"sha256", "step", "role"})
            CHECK(stopped.lines("artifact").at(0).at(key) == whole.lines("artifact").at(0).at(key));
    }
}

TEST_CASE("a trial whose best weights are gone or damaged trains them again") {
    const std::string eval = "every = \"1 steps\"\nselect = \"best\"\n";
    Trial whole(eval);
    REQUIRE(whole.run() == 0);
    for (const bool is_over : {false, true}) {
        Trial trial(eval);
        int asked = 0;
        REQUIRE(trial.run([&] { return !is_over && ++asked > 40; }) == (is_over ? kExitOk : kExitWorkLeft));
        const fs::path kept = result_checkpoint(trial.folder / "checkpoints").value();
        REQUIRE(kept.filename().string().starts_with("best_"));
        if (is_over)
            fs::remove_all(kept);
        else
            fs::resize_file(kept / "model.safetensors", 100);
        REQUIRE(trial.run([] { return false; }, true) == 0);
        CHECK_THAT(trial.lines("started").back().at("note").get<std::string>(),
                   ContainsSubstring(is_over ? "are gone" : "model.safetensors is not what was written"));
        CHECK(trial.lines("started").back().at("resume_step") == 0);
        CHECK(trial.lines("artifact").back().at("sha256") == whole.lines("artifact").at(0).at("sha256"));
    }
}

TEST_CASE("best weights of an earlier step do not replace those that are gone") {
    const std::string eval = "every = \"1 steps\"\nselect = \"best\"\n";
    Trial trial(eval);
    int asked = 0;
    REQUIRE(trial.run([&] { return ++asked > 6; }) == kExitWorkLeft);
    const fs::path earlier = result_checkpoint(trial.folder / "checkpoints").value();
    fs::copy(earlier, trial.folder / "aside", fs::copy_options::recursive);
    REQUIRE(trial.run([] { return false; }, true) == 0);
    const fs::path best = result_checkpoint(trial.folder / "checkpoints").value();
    REQUIRE(best.filename() > earlier.filename());
    fs::remove_all(best);
    fs::rename(trial.folder / "aside", earlier);
    REQUIRE(trial.run([] { return false; }, true) == 0);
    CHECK_THAT(trial.lines("started").back().at("note").get<std::string>(), ContainsSubstring("are gone"));
    CHECK(trial.lines("artifact").at(1).at("sha256") == trial.lines("artifact").at(0).at("sha256"));
}

TEST_CASE("weights alone are scored, and no training goes on from them") {
    Trial trial("every = \"1 steps\"\nselect = \"best\"\n");
    REQUIRE(trial.run() == 0);
    const fs::path kept = result_checkpoint(trial.folder / "checkpoints").value();
    const Dataset dataset =
        load_dataset(trial.config.data, trial.config.model.seqlen, trial.config.base_folder, trial.folder / "data");
    engine::Trainer trainer(trainer_config(trial.config), dataset.train, 1);
    CHECK_THAT(test::refusal(ErrorKind::config, [&] { engine::load_checkpoint(trainer, kept); }),
               ContainsSubstring("holds weights alone"));
}
