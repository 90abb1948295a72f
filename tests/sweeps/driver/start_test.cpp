// [start]: training from a model that is there as files.

#include "sweeps/spec/expand.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

namespace fs = std::filesystem;

// A model that TinySweep's recipe trained, as Hugging Face's files.
fs::path exported_model(const TinySweep& trained, const std::string& name) {
    const fs::path folder = trained.folder.path / name;
    REQUIRE(trained.deft("export", {"plain/1", "--root", trained.root.string(), "--to", folder.string()}).exit_code ==
            kExitOk);
    return folder;
}

std::string start_from(const fs::path& model) {
    return fmt::format("[defaults.start]\nfrom = \"{}\"\n", model.string());
}

std::string validation_loss(const TinySweep& sweep) {
    return sweep.value(
        "SELECT printf('%.4f', v.value) FROM evaluation v JOIN metric n ON n.id = v.metric_id"
        " WHERE v.task = 'validation' AND n.name = 'loss' AND v.score_key <> 'while training'");
}

sweeps::Trial trial_of(const TinySweep& sweep) {
    return sweeps::expand(sweeps::load_spec(sweep.file)).front();
}

}  // namespace

TEST_CASE("A trial starts from a model of Hugging Face, and from a checkpoint of deft") {
    const TinySweep trained(kPlain);
    REQUIRE(trained.run().exit_code == kExitOk);
    const fs::path model = exported_model(trained, "model");
    fs::path checkpoint;
    for (const auto& entry : fs::recursive_directory_iterator(trained.root / "checkpoints"))
        if (entry.path().filename() == "checkpoint.json") checkpoint = entry.path().parent_path();
    for (const fs::path& from : {model, checkpoint}) {
        // At a rate of next to nothing the weights stay as they came.
        const TinySweep sweep(start_from(from) + kPlain + "[case.train]\nlearning_rate = 1e-9\n");
        REQUIRE(sweep.run().exit_code == kExitOk);
        CHECK(validation_loss(sweep) == validation_loss(trained));
    }
}

TEST_CASE("What a trial starts from is in its hash, where it lies is not") {
    const TinySweep trained(kPlain), other(kPlain + "[case.train]\nlearning_rate = 2e-3\n");
    REQUIRE(trained.run().exit_code == kExitOk);
    REQUIRE(other.run().exit_code == kExitOk);
    const fs::path model = exported_model(trained, "model"), copy = trained.folder.path / "copy";
    fs::copy(model, copy, fs::copy_options::recursive);
    const sweeps::Trial first = trial_of(TinySweep(start_from(model) + kPlain));
    CHECK(first.config_hash == trial_of(TinySweep(start_from(copy) + kPlain)).config_hash);
    CHECK(first.config_hash != trial_of(TinySweep(start_from(exported_model(other, "model")) + kPlain)).config_hash);
    CHECK(first.config_hash != trial_of(TinySweep(kPlain)).config_hash);
    const experiments::TrialConfig again = experiments::from_json(experiments::to_json(first.config));
    CHECK(again.start == first.config.start);
    CHECK(experiments::config_hash(again) == first.config_hash);
}

TEST_CASE("A start that does not fit is refused, and nothing is trained") {
    const TinySweep trained(kPlain);
    REQUIRE(trained.run().exit_code == kExitOk);
    const fs::path model = exported_model(trained, "model");
    const auto refused = [&](const std::string& tables) {
        const TinySweep sweep(tables);
        const Ran ran = sweep.run();
        CHECK(ran.exit_code != kExitOk);
        if (fs::exists(sweep.root / "results.db")) CHECK(sweep.count("ok") == "0");
        return ran.err;
    };
    CHECK_THAT(refused(start_from("no_such_folder") + kPlain), ContainsSubstring("does not exist"));
    CHECK_THAT(refused("[defaults.start]\nfrom = \"\"\n" + kPlain), ContainsSubstring("start.from is empty"));
    CHECK_THAT(refused("[defaults.start]\n" + kPlain), ContainsSubstring("start.from is missing"));
    CHECK_THAT(refused(start_from(model) + kPlain + "[case.model]\nwidth = 32\n"),
               ContainsSubstring("does not fit the model") && ContainsSubstring("width"));
    CHECK_THAT(refused(start_from(model) + kPlain + "[case.model]\nseqlen = 32\n"), ContainsSubstring("position"));
    CHECK_THAT(
        refused("[stage.a]\n[stage.b]\nfrom = \"a\"\n[stage.b.start]\nfrom = \"" + model.string() + "\"\n" + kPlain),
        ContainsSubstring("cannot start from both an earlier stage and the model in [start]"));
}

TEST_CASE("A model that is cut or changed between the plan and the training is refused") {
    const TinySweep trained(kPlain);
    REQUIRE(trained.run().exit_code == kExitOk);
    const fs::path model = exported_model(trained, "model");
    const TinySweep sweep(start_from(model) + kPlain);
    // Trains for a moment, is stopped before its first checkpoint, and its model is exchanged: the next run plans
    // again.
    const sweeps::Trial before = trial_of(sweep);
    const fs::path weights = model / "model.safetensors";
    std::string bytes = read_file(weights);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_file_atomically(weights, bytes);
    CHECK(trial_of(sweep).config_hash != before.config_hash);
    fs::resize_file(weights, bytes.size() / 2);
    CHECK(sweep.run().exit_code != kExitOk);
    CHECK(!fs::exists(sweep.root / "results.db"));
}
