// Sweeps with stages when what a later stage needs is damaged, gone, or does not fit the disk.

#include <algorithm>

#include "tests/small_disk.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;
namespace fs = std::filesystem;

namespace {

// The second stage reads a corpus of its own, which is prepared before it trains.
const std::string kTwoStages = R"toml(
[stage.pretrain]
[stage.finetune]
from = "pretrain"
[stage.finetune.data]
embedded_seed = 7
[stage.finetune.train]
learning_rate = 2e-4
)toml" + kPlain;

// Attempts that train.
std::vector<std::string> trainings_of(const TinySweep& sweep, const std::string& stage) {
    return sweep.query(
        "SELECT a.state, a.uid, a.ended_ms FROM attempt a JOIN sweep_member m ON"
        " m.experiment_id = a.experiment_id WHERE a.kind = 'train' AND m.stage = '" +
            stage +
            "'"
            " ORDER BY a.id",
        3);
}

void damage(const fs::path& checkpoints) {
    for (const auto& entry : fs::recursive_directory_iterator(checkpoints)) {
        if (entry.path().filename() != "model.safetensors") continue;
        std::string bytes = read_file(entry.path());
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        write_file_atomically(entry.path(), bytes);
    }
}

// Ends the sweep with its first stage whole and nothing of the second begun.
void train_first_stage(const TinySweep& sweep) {
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGINT);
    REQUIRE(wait_until([&] { return sweep.says("draining"); }));
    ::kill(trial, SIGCONT);
    REQUIRE(driver.wait() == kExitWorkLeft);
    REQUIRE(trainings_of(sweep, "pretrain").size() == 1);
    REQUIRE(trainings_of(sweep, "finetune").empty());
}

}  // namespace

TEST_CASE("Nothing starts from a checkpoint that is about to be trained again", "[bare]") {
    const TinySweep calm(kTwoStages);
    const std::vector<std::string> more = {"--set", "finetune.train.learning_rate=3e-4", "--set", "eval.documents=30"};
    REQUIRE(calm.run(more).exit_code == kExitOk);
    // Damaged, it is still there for who would not wait; a folder that is gone has no path to give.
    for (const bool is_gone : {false, true}) {
        const TinySweep sweep(kTwoStages);
        REQUIRE(sweep.run().exit_code == kExitOk);
        if (is_gone)
            fs::remove_all(sweep.root / "checkpoints");
        else
            damage(sweep.root / "checkpoints");
        std::vector<std::string> again = more;
        again.insert(again.end(), {"--retrain", "--slots", "cpu:2"});
        const Ran ran = sweep.run(again);
        INFO(ran.err);
        CHECK(ran.exit_code == kExitOk);
        CHECK_THAT(ran.err, !ContainsSubstring("retry") && !ContainsSubstring("failed"));
        // The first stage twice, the second with each of its rates once.
        CHECK(sweep.count("ok") == "4");
        CHECK(sweep.count("failed") == "0");
        const auto measured = sweep.measured(), wanted = calm.measured();
        for (const std::string& line : wanted)
            CHECK(std::find(measured.begin(), measured.end(), line) != measured.end());
    }
}

TEST_CASE("What starts from a checkpoint that is gone is blocked, and so is what waits for that; the rest is done",
          "[bare]") {
    // Trained, with no checkpoint: the fake trial leaves none.
    FakeSweep sweep({"ok-a", "ok-b", "ok-c", "ok-x", "ok-same-as-x", "ok-child-of-x"});
    const std::vector<sweeps::Trial> all = sweep.trials;
    sweep.trials.resize(1);
    REQUIRE(sweep.run().ok == 1);
    sweep.trials = all;
    sweep.trials[1].parent = 0;
    sweep.trials[2].parent = 1;
    // A trial whose start is not asked for, but the same training is at another place.
    sweep.trials[4].config_hash = sweep.trials[3].config_hash;
    sweep.trials[5].parent = 3;
    sweep.options.only = {"ok-b", "ok-c", "ok-same-as-x", "ok-child-of-x"};
    const sweeps::RunSummary summary = sweep.run();
    CHECK(summary.blocked == 2);
    CHECK(summary.ok == 2);
    CHECK(summary.left == 0);
    CHECK(summary.exit_code == kExitFailed);
    CHECK_THAT(sweep.said,
               ContainsSubstring("ok-a/1: trained, but the checkpoint is gone, so nothing can start from it; "
                                 "to train again: deft run fake.toml --retrain"));
    CHECK(sweep.row(2).state == "pending");
    CHECK(sweep.row(5).state == "ok");
}

TEST_CASE("A disk that is full between two stages keeps the first, prints a hint, and the next run goes on", "[bare]") {
    const std::string long_first =
        kTwoStages + "[case.pretrain.train]\nbudget_tokens = " + std::to_string(long_tokens(40'000)) + "\n";
    std::vector<std::string> calm_results;
    // Room for nothing at all, for the records of a run alone, and for the next stage's corpus but not its checkpoint.
    for (const int free_kilobytes : {0, 60, 200, 400}) {
        INFO(free_kilobytes << " KiB free");
        const TinySweep sweep(long_first);
        SmallDisk disk(sweep.root, 8000);
        if (!disk.mounted()) DEFT_SKIP("needs the right to mount a tmpfs");
        train_first_stage(sweep);
        const std::vector<std::string> first = trainings_of(sweep, "pretrain");
        const auto free = static_cast<std::int64_t>(fs::space(sweep.root).available);
        const std::int64_t filler = free - free_kilobytes * 1024;
        REQUIRE(filler > 0);
        test::write_text(sweep.root / "filler", std::string(static_cast<std::size_t>(filler), 'x'));
        const Ran full = sweep.run();
        CHECK(full.exit_code == kExitFailed);
        CHECK_THAT(full.err, ContainsSubstring("help: free") &&
                                 (ContainsSubstring("No space left on device") || ContainsSubstring("disk is full")));
        CHECK(sweep.processes().empty());
        fs::remove(sweep.root / "filler");
        CHECK(trainings_of(sweep, "pretrain") == first);
        const Ran ran = sweep.run();
        INFO(ran.err);
        CHECK(ran.exit_code == kExitOk);
        CHECK(trainings_of(sweep, "pretrain") == first);
        CHECK(sweep.count("ok") == "2");
        if (calm_results.empty()) calm_results = sweep.measured();
        CHECK(sweep.measured() == calm_results);
    }
}
