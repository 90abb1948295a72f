// The current inputs of results are read only from the paths that their own machine names, never from others.

#include "sweeps/driver/current_inputs.h"

#include "base/json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;

namespace {

results_db::StoredTrial a_trial_of_files(const std::string& base_folder, const std::string& outside) {
    results_db::StoredTrial trial;
    trial.config_hash = "cafe";
    trial.state = "ok";
    trial.config_json = canonical_json(
        {{"data", {{"corpus", outside}, {"samples", "labelled"}}}, {"local", {{"base_folder", base_folder}}}});
    results_db::ScoreRow score;
    score.task = outside;
    score.score_key = "a key";
    trial.scores.push_back(score);
    return trial;
}

}  // namespace

TEST_CASE("no file outside is opened for a trial that came in as a text") {
    const test::TemporaryFolder folder;
    const std::string outside = folder / "outside.toml";
    test::write_text(outside, "secret = [\n");
    for (const std::string base_folder : {"", "a"})
        for (const std::string& path : {outside, "../" + outside}) {
            const reporting::Current now =
                sweeps::current_inputs({{}, {a_trial_of_files(base_folder, path)}}, folder.path());
            const reporting::TrialNow& trial = now.trials.at("cafe");
            CHECK(trial.inputs.at("data.sha256").unknown == "its corpus is a file of another machine");
            CHECK(trial.tasks.at("a key").unknown == "its file is one of another machine");
        }
    // A score has no more than its task's name, and that of a trial of this machine leads nowhere else either.
    const reporting::Current own =
        sweeps::current_inputs({{}, {a_trial_of_files(folder.path(), outside)}}, folder.path());
    CHECK(own.trials.at("cafe").tasks.at("a key").unknown == "its file is one of another machine");
}
