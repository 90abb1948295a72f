// Trials that start from others: what waits, what is blocked, what a kill changes.

#include <algorithm>
#include <random>

#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

// Three stages; two of the four recipes share their pretraining, and two their second stage too.
const std::string kThreeStages = R"toml(
[defaults.checkpoint]
every_seconds = 0.02
[stage.pretrain]
[stage.middle]
from = "pretrain"
[stage.middle.train]
learning_rate = 5e-4
[stage.finetune]
from = "middle"
[stage.finetune.train]
learning_rate = 2e-4
[[case]]
name = "plain"
[[case]]
name = "ltd"
[case.pretrain.random_ltd]
min = 8
step = 4
duration = 0.8
[[case]]
name = "middle_cl"
[case.middle.curriculum.seqtru]
min = 8
difficulty_step = 4
duration = 0.5
[[case]]
name = "late"
[case.finetune.random_ltd]
min = 8
step = 4
duration = 0.8
)toml";

}  // namespace

TEST_CASE("A trial waits for the one that it starts from, while others run") {
    FakeSweep sweep({"wait", "ok-after", "ok-free"});
    sweep.trials[1].parent = 0;
    sweep.options.slots = {{}, {}};
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    // The slot beside it takes what waits for nothing.
    REQUIRE(wait_until([&] { return sweep.row(2).state == "ok"; }));
    CHECK(sweep.row(1).state == "pending");
    sweep.touch("go");
    int status = 0;
    ::waitpid(driver, &status, 0);
    CHECK(WEXITSTATUS(status) == kExitOk);
    CHECK(sweep.row(1).state == "ok");
}

TEST_CASE("What starts from a trial that failed is blocked, directly or not, and the rest is done") {
    FakeSweep sweep({"nan", "ok-child", "ok-grandchild", "ok-other"});
    sweep.trials[1].parent = 0;
    sweep.trials[2].parent = 1;
    const sweeps::RunSummary summary = sweep.run();
    CHECK(summary.failed == 1);
    CHECK(summary.blocked == 2);
    CHECK(summary.ok == 1);
    CHECK(summary.left == 0);
    CHECK(summary.exit_code == kExitFailed);
    CHECK_THAT(sweep.said,
               ContainsSubstring("blocked ok-child/1, ok-grandchild/1: they start from nan/1, which failed"));
    CHECK_THAT(sweep.said, ContainsSubstring("1 ok, 1 failed, 2 blocked"));
    CHECK(sweep.row(1).state == "pending");
    CHECK(sweep.row(3).state == "ok");
}

TEST_CASE("A training that two recipes share and that fails is not tried for each of them") {
    FakeSweep sweep({"nan-a", "nan-b", "ok-of-a", "ok-of-b"});
    sweep.trials[1].config_hash = sweep.trials[0].config_hash;
    sweep.trials[2].parent = 0;
    sweep.trials[3].parent = 1;
    const sweeps::RunSummary summary = sweep.run();
    CHECK(summary.failed == 2);
    CHECK(summary.blocked == 2);
    CHECK(sweep.row(0).attempts == 1);
}

TEST_CASE("A crash that another try overcomes blocks nothing") {
    FakeSweep sweep({"once", "ok-child"});
    sweep.trials[1].parent = 0;
    const sweeps::RunSummary summary = sweep.run();
    CHECK(summary.ok == 2);
    CHECK(summary.blocked == 0);
    CHECK(summary.exit_code == kExitOk);
}

TEST_CASE("Three stages of four recipes give the same bits after twenty kills as in a calm run", "[slow]") {
    const TinySweep calm(kThreeStages, "[1, 2]");
    const Ran first = calm.run({"--slots", "cpu:2"});
    INFO(first.err);
    REQUIRE(first.exit_code == kExitOk);
    // Pretraining: plain, middle_cl and late share it. The second stage: plain and late do.
    CHECK(calm.value("SELECT count(*) FROM attempt WHERE kind = 'train'") == "18");
    CHECK(calm.value("SELECT count(*) FROM sweep_member") == "24");

    const TinySweep sweep(kThreeStages, "[1, 2]");
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    int kills = 0;
    while (kills < 20) {
        Process driver = sweep.start({"--slots", "cpu:2"});
        for (int i = 0; i < 3 && kills < 20; ++i) {
            ::usleep(static_cast<useconds_t>(20'000 + random() % 250'000));
            std::vector<pid_t> trials;
            for (const pid_t pid : sweep.processes())
                if (pid != driver.pid()) trials.push_back(pid);
            const bool whole_driver = i == 2 || trials.empty() || random() % 4 == 0;
            ::kill(whole_driver ? driver.pid() : trials[random() % trials.size()], SIGKILL);
            ++kills;
            if (whole_driver) break;
        }
        driver.signal(SIGKILL);
        driver.wait();
    }
    const Ran last = sweep.run({"--slots", "cpu:2"});
    INFO(last.err);
    CHECK(last.exit_code == kExitOk);
    CHECK(sweep.measured() == calm.measured());
    CHECK(sweep.value("SELECT count(DISTINCT experiment_id) FROM attempt WHERE state = 'ok'") == "18");
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')") == "0");
    CHECK(sweep.value(
              "SELECT count(*) FROM (SELECT 1 FROM v_curve GROUP BY experiment_id, step HAVING count(*) > 1)") == "0");
}

TEST_CASE("A stage trains on from the weights of the stage before, and its tables and costs are its own") {
    const std::string two = R"toml(
[stage.pretrain]
[stage.finetune]
from = "pretrain"
[stage.finetune.train]
learning_rate = 1e-9
[[case]]
name = "plain"
)toml";
    const TinySweep sweep(two);
    const Ran ran = sweep.run({"--full"});
    INFO(ran.err);
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("stage pretrain: 1 training") &&
                            ContainsSubstring("stage finetune: 1 training, from pretrain"));
    // A rate of next to nothing leaves the weights as they came: validated, they are as good.
    const auto loss = [&](const char* stage) {
        return std::stod(sweep.value(fmt::format(
            "SELECT v.value FROM evaluation v JOIN metric n ON n.id = v.metric_id JOIN attempt a ON a.id = v.attempt_id"
            " JOIN sweep_member m ON m.experiment_id = a.experiment_id"
            " WHERE m.stage = '{}' AND v.task = 'validation' AND n.name = 'loss' AND a.kind = 'score'",
            stage)));
    };
    CHECK(std::abs(loss("pretrain") - loss("finetune")) < 1e-4);
    CHECK(loss("pretrain") < 5);  // nats a byte; drawn weights have 5.5
    CHECK_THAT(ran.out, ContainsSubstring("stage pretrain") && ContainsSubstring("stage finetune") &&
                            ContainsSubstring("Stages: pretrain 1 training in"));
    const std::string shown = sweep.deft("show", {"plain:finetune/1", "--root", sweep.root.string()}).out;
    CHECK_THAT(shown, ContainsSubstring("the weights of trial " + sweep.value("SELECT substr(e.config_hash, 1, 8) FROM"
                                                                              " experiment e JOIN sweep_member m ON"
                                                                              " m.experiment_id = e.id WHERE"
                                                                              " m.stage = 'pretrain'")));
    // One header, and a row for each stage.
    const std::string csv = sweep.deft("report", {"tiny", "--format", "csv", "--root", sweep.root.string()}).out;
    CHECK(csv.starts_with("stage,recipe,"));
    CHECK_THAT(csv, ContainsSubstring("\npretrain,plain,") && ContainsSubstring("\nfinetune,plain,"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
    const std::string page = read_file(sweep.root / "reports" / "tiny.html");
    CHECK_THAT(page,
               ContainsSubstring("<h2 id=\"stage-pretrain\">") && ContainsSubstring("id=\"comparison-finetune\""));
}

TEST_CASE("A start whose checkpoint is gone blocks what needs it, until it is trained again") {
    const std::string two = "[stage.a]\n[stage.b]\nfrom = \"a\"\n[stage.b.train]\nlearning_rate = 1e-4\n" + kPlain;
    const TinySweep calm(two);
    REQUIRE(calm.run().exit_code == kExitOk);
    const TinySweep sweep(two);
    REQUIRE(sweep.run().exit_code == kExitOk);
    std::filesystem::remove_all(sweep.root / "checkpoints");
    const std::vector<std::string> other = {"--set", "b.train.learning_rate=2e-4"};
    const Ran blocked = sweep.run(other);
    CHECK(blocked.exit_code == kExitFailed);
    CHECK_THAT(blocked.err, ContainsSubstring("plain:a/1: trained, but the checkpoint is gone, so nothing can start"));
    std::vector<std::string> again = other;
    again.emplace_back("--retrain");
    const Ran ran = sweep.run(again);
    INFO(ran.err);
    CHECK(ran.exit_code == kExitOk);
    CHECK(calm.run(other).exit_code == kExitOk);
    CHECK(sweep.measured() == calm.measured());
}

TEST_CASE("deft tune does not take a sweep with stages for one without") {
    const TinySweep sweep("[stage.a]\n[stage.b]\nfrom = \"a\"\n" + kPlain);
    const Ran ran = sweep.deft("tune", {sweep.file.string(), "plain"});
    CHECK(ran.exit_code == kExitUsage);
    CHECK_THAT(ran.err, ContainsSubstring("has stages") && ContainsSubstring("[start]"));
}

TEST_CASE("Stages whose models or tokens differ end with a hint, and finished training stays") {
    const auto refused = [](const std::string& table) {
        const TinySweep sweep("[stage.a]\n[stage.b]\nfrom = \"a\"\n" + table + kPlain);
        const Ran ran = sweep.run();
        CHECK(ran.exit_code == kExitFailed);
        CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state = 'ok' AND kind = 'train'") == "1");
        return ran.err;
    };
    CHECK_THAT(refused("[stage.b.model]\nwidth = 32\n"),
               ContainsSubstring("does not fit the model") && ContainsSubstring("width"));
    CHECK_THAT(refused("[stage.b.data]\ntokenizer = \"bpe\"\nvocab = 258\n"),
               ContainsSubstring("does not fit the model") && ContainsSubstring("tokenizer"));
}
