// Killed at any moment and started again, a sweep gives the same bits as one that nobody touched.

#include <algorithm>
#include <random>

#include "results_db/reader.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

// Long enough to be hit often, with every technique, and a checkpoint every few dozen steps.
const std::string kKilledRecipes = R"toml(
[defaults.checkpoint]
every_seconds = 0.02
[[case]]
name = "plain"
[case.train]
budget_tokens = 80_000
[[case]]
name = "all"
[case.train]
budget_tokens = 60_000
[case.curriculum.seqtru]
min = 8
difficulty_step = 4
duration = 0.5
[case.curriculum.voc]
duration = 0.7
[case.random_ltd]
min = 8
step = 4
duration = 0.8
)toml";

// One trial, long enough to be met while it trains.
const std::string kLongBudget = fmt::format("train.budget_tokens={}", test::long_tokens(400'000));
const std::vector<std::string> kLong = {"--only", "plain", "--set", kLongBudget};

pid_t any_trial(const TinySweep& sweep, pid_t driver, std::mt19937& random) {
    std::vector<pid_t> trials;
    for (const pid_t pid : sweep.processes())
        if (pid != driver) trials.push_back(pid);
    return trials.empty() ? -1 : trials[random() % trials.size()];
}

bool has_checkpoint(const TinySweep& sweep) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sweep.root / "checkpoints", ignored))
        if (entry.path().filename().string().starts_with("step_")) return true;
    return false;
}

}  // namespace

TEST_CASE("Thirty kills of trials and drivers at random moments change no bit", "[slow]") {
    const TinySweep undisturbed(kKilledRecipes, "[1, 2]");
    REQUIRE(undisturbed.run({"--slots", "cpu:2"}).exit_code == kExitOk);

    const TinySweep sweep(kKilledRecipes, "[1, 2]");
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    int kills = 0;
    while (kills < 30) {
        Process driver = sweep.start({"--slots", "cpu:2"});
        // Kills some trials of a run, then the driver; a trial that is killed twice ends as failed, and the run goes
        // on.
        for (int i = 0; i < 3 && kills < 30; ++i) {
            ::usleep(static_cast<useconds_t>(20'000 + random() % 180'000));
            // However slow the machine: now and then late enough that there is something to go on from.
            if (kills % 5 == 0) wait_until([&] { return has_checkpoint(sweep); });
            const bool whole_driver = i == 2 || random() % 4 == 0;
            const pid_t victim = whole_driver ? driver.pid() : any_trial(sweep, driver.pid(), random);
            if (victim <= 0) continue;
            ::kill(victim, SIGKILL);
            ++kills;
            if (whole_driver) break;
        }
        driver.signal(SIGKILL);
        driver.wait();
    }
    const Ran last = sweep.run({"--slots", "cpu:2"});
    CHECK(last.exit_code == kExitOk);
    CHECK(sweep.measured() == undisturbed.measured());
    CHECK(sweep.value("SELECT count(DISTINCT experiment_id) FROM attempt WHERE state = 'ok'") == "4");
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')") == "0");
    // No step twice in a curve.
    CHECK(sweep.value(
              "SELECT count(*) FROM (SELECT 1 FROM v_curve GROUP BY experiment_id, step HAVING count(*) > 1)") == "0");
    CHECK(std::stoll(sweep.value("SELECT count(*) FROM attempt WHERE resume_step > 0")) > 0);
}

TEST_CASE("A damaged newest checkpoint gives way to the one before, and the run says so", "[slow]") {
    const TinySweep undisturbed(kKilledRecipes);
    REQUIRE(undisturbed.run(kLong).exit_code == kExitOk);

    const TinySweep sweep(kKilledRecipes);
    for (int i = 0; i < 2; ++i) {
        Process driver = sweep.start(kLong);
        const pid_t trial = sweep.freeze_trial();
        REQUIRE(trial > 0);
        driver.signal(SIGTERM);
        ::kill(trial, SIGCONT);
        CHECK(driver.wait() == kExitWorkLeft);
    }
    std::vector<std::filesystem::path> checkpoints;
    for (const auto& folder : std::filesystem::directory_iterator(sweep.root / "checkpoints"))
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (entry.path().filename() != "unfinished") checkpoints.push_back(entry.path());
    std::sort(checkpoints.begin(), checkpoints.end());
    REQUIRE(checkpoints.size() >= 2);
    std::filesystem::resize_file(checkpoints.back() / "model.safetensors", 1000);

    const Ran ran = sweep.run({"--only", "plain", "--set", kLongBudget, "--progress", "plain"});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("passed over") && ContainsSubstring("is damaged"));
    CHECK(sweep.measured() == undisturbed.measured());
}

TEST_CASE("A trial that is asked to stop saves a checkpoint, exits with 75 and goes on from there") {
    const TinySweep sweep(kKilledRecipes);
    Process driver = sweep.start(kLong);
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    ::kill(trial, SIGTERM);
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitOk);
    CHECK(sweep.value("SELECT state || exit_code FROM attempt WHERE number = 1") == "preempted75");
    CHECK(sweep.value("SELECT state FROM attempt WHERE number = 2 AND resume_step > 0 AND resumed_from = 1") == "ok");
    // Each has its own seconds; the journal counts from the first step.
    CHECK(sweep.value("SELECT abs(a.own_seconds - a.train_seconds) < 1e-6 AND a.own_seconds > 0 AND b.own_seconds > 0"
                      " AND abs(a.own_seconds + b.own_seconds - b.train_seconds) < 1e-6"
                      " FROM attempt a, attempt b WHERE a.number = 1 AND b.number = 2") == "1");
    CHECK(sweep.says("it will go on"));
    // Nothing of it is lost, and the parts are the time that its slot was held.
    const results_db::StoredTrial row = results_db::Reader(sweep.root / "results.db").trial("plain");
    REQUIRE(row.attempt_rows.size() == 2);
    const results_db::AttemptRow &first = row.attempt_rows[0], &second = row.attempt_rows[1];
    CHECK(first.seconds->lost == 0);
    CHECK(first.seconds->training == Approx(*first.own_seconds));
    CHECK(second.seconds->training == Approx(*second.own_seconds));
    CHECK(row.parts.training == Approx(row.device_seconds));
    double held = 0, scored = 0;
    for (const auto* attempts : {&row.attempt_rows, &row.scoring_rows})
        for (const results_db::AttemptRow& attempt : *attempts) {
            REQUIRE(attempt.held_seconds);
            CHECK(attempt.waited_seconds == 0.0);
            CHECK(attempt.seconds->whole() == Approx(*attempt.held_seconds));
            CHECK(attempt.seconds->start_up > 0);
            held += *attempt.held_seconds * attempt.devices();
            scored += attempt.seconds->scoring;
        }
    CHECK(row.parts.whole() == Approx(held));
    CHECK(row.parts.scoring == Approx(row.eval_seconds));
    CHECK(scored > 0);
    CHECK(row.unseen_ends == 0);
    CHECK(row.unmeasured_waits == 0);
}

TEST_CASE("Steps of a killed trial after its last checkpoint are lost, and their time is listed separately") {
    const TinySweep sweep(kKilledRecipes);
    Process driver = sweep.start(kLong);
    REQUIRE(wait_until([&] { return has_checkpoint(sweep); }));
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    ::kill(trial, SIGKILL);
    CHECK(driver.wait() == kExitOk);
    REQUIRE(sweep.value("SELECT term_signal FROM attempt WHERE number = 1") == "9");
    REQUIRE(sweep.value("SELECT resume_step > 0 FROM attempt WHERE number = 2") == "1");
    // The line of that checkpoint may have been cut off by the kill: then all but the training is lost.
    const results_db::StoredTrial row = results_db::Reader(sweep.root / "results.db").trial("plain");
    const results_db::AttemptRow& killed = row.attempt_rows.at(0);
    REQUIRE(killed.held_seconds);
    CHECK(killed.seconds->lost > 0);
    CHECK(killed.seconds->training > 0);
    CHECK(killed.seconds->whole() == Approx(*killed.held_seconds));
    const std::string spent = sweep.value(
        "SELECT s.train_seconds FROM spent s JOIN attempt b ON b.number = 2 AND b.experiment_id = 1"
        " AND s.step = b.resume_step WHERE s.attempt_id = 1");
    if (!spent.empty()) {
        CHECK(killed.seconds->training == Approx(std::stod(spent)));
        CHECK(killed.seconds->start_up > 0);
    }
}

TEST_CASE("An attempt whose driver was killed costs what its journal records, up to its last line") {
    const TinySweep sweep(kKilledRecipes);
    Process driver = sweep.start(kLong);
    REQUIRE(wait_until([&] { return has_checkpoint(sweep); }));
    driver.signal(SIGKILL);
    driver.wait();
    ::sleep(1);  // until it is taken in nobody holds the slot
    REQUIRE(sweep.run(kLong).exit_code == kExitOk);
    REQUIRE(sweep.value("SELECT state FROM attempt WHERE number = 1") == "stale");
    const results_db::StoredTrial row = results_db::Reader(sweep.root / "results.db").trial("plain");
    const results_db::AttemptRow& stale = row.attempt_rows.at(0);
    REQUIRE(stale.held_seconds);
    CHECK(*stale.held_seconds > 0);
    CHECK(*stale.held_seconds <= static_cast<double>(stale.ended_ms - stale.started_ms) / 1000 - 1);
    CHECK(stale.seconds->whole() >= *stale.held_seconds);
    CHECK(row.unseen_ends == 0);
}

TEST_CASE("After its database is lost, a sweep is trained again from its start") {
    const TinySweep sweep(kKilledRecipes);
    REQUIRE(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    const std::vector<std::string> before = sweep.measured();
    std::filesystem::remove(sweep.root / "results.db");
    REQUIRE(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    CHECK(sweep.measured() == before);
    CHECK(sweep.value("SELECT resume_step FROM attempt") == "0");
}

TEST_CASE("A trial whose evaluation was lost is scored again, and keeps its curve, time and FLOPs") {
    const TinySweep sweep(kKilledRecipes);
    REQUIRE(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    const std::string flops = sweep.value("SELECT max(flops) FROM v_curve");
    const std::vector<std::string> before = sweep.measured();
    const std::vector<std::string> trained =
        sweep.query("SELECT train_seconds, own_seconds, ended_ms FROM attempt WHERE kind = 'train'", 3);
    {
        // As a kill before the first score leaves it.
        results_db::Connection connection(sweep.root / "results.db", results_db::Connection::Mode::write);
        connection.execute(
            "DROP TRIGGER attempt_terminal; DELETE FROM evaluation; DELETE FROM score;"
            "UPDATE attempt SET state = 'failed', fail_class = 'crash' WHERE kind = 'score'");
    }
    REQUIRE(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    CHECK(sweep.measured() == before);
    CHECK(sweep.value("SELECT max(flops) FROM v_curve") == flops);
    CHECK(sweep.query("SELECT train_seconds, own_seconds, ended_ms FROM attempt WHERE kind = 'train'", 3) == trained);
    CHECK(sweep.value("SELECT own_seconds FROM attempt WHERE id = 3") == "0.0");
    CHECK(sweep.value("SELECT count(*) FROM train_point WHERE attempt_id = 3") == "0");
}
