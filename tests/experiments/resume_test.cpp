// Which checkpoint a trial goes on from, when its journals may end before it.

#include "base/files.h"
#include "base/json.h"
#include "tests/experiments/whole_trial.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

// A trial of 24 steps that logs every third; stopped after some steps, it leaves a checkpoint there.
struct StoppedTrial {
    StoppedTrial() {
        config = parse_trial_config(
            parse_toml("[model]\nlayers = 1\nwidth = 16\nheads = 2\nseqlen = 16\n[data]\nembedded_bytes = 3000\n"
                       "[train]\nbatch_size = 4\nbudget_tokens = 1536\n[checkpoint]\nkeep = 3\n",
                       "t.toml"),
            1, folder.path());
        config.log_every = 3;
        resolve_data(config);
    }

    // Up to `steps` more; 0: to the end. The journal's first line of this attempt.
    Json run(int steps, std::int64_t covered) {
        const std::size_t before = started().size();
        TrialPlaces places{folder.path(), folder / "data", folder / "checkpoints"};
        places.covered_step = covered;
        int taken = 0;
        run_trial(config, places, {}, [&] { return steps > 0 && ++taken >= steps; });
        REQUIRE(started().size() == before + 1);
        return started().back();
    }

    std::vector<Json> started() const { return test::journal_records(folder.path(), "started"); }

    test::TemporaryFolder folder;
    TrialConfig config;
};

}  // namespace

TEST_CASE("A trial goes on from the newest checkpoint that its journals cover") {
    StoppedTrial trial;
    CHECK(trial.run(4, 0).at("resume_step") == 0);
    CHECK(trial.run(4, 3).at("resume_step") == 4);  // step 3 is the last before it that is logged
    const Json later = trial.run(0, 5);             // of step 8, whose journal ends before step 6
    CHECK(later.at("resume_step") == 4);
    CHECK_THAT(later.at("note").get<std::string>(),
               ContainsSubstring("step_00000008: it is of step 8, and the trial's journals end at step 5"));
}

TEST_CASE("A trial all of whose checkpoints are ahead of its journals goes on, and reports the hole in its curve") {
    StoppedTrial trial;
    trial.run(8, 0);
    const Json ahead = trial.run(0, 2);
    CHECK(ahead.at("resume_step") == 8);
    CHECK_THAT(ahead.at("note").get<std::string>(),
               ContainsSubstring("the curve has a hole: no journal of the trial has the steps 3 to 8"));
}

TEST_CASE("A checkpoint that the journals cover is gone on from without a note") {
    StoppedTrial trial;
    trial.run(8, 0);
    const Json covered = trial.run(0, 6);
    CHECK(covered.at("resume_step") == 8);
    CHECK(covered.at("note") == "");
}
