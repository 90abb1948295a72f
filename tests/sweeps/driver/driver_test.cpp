#include "sweeps/driver/driver.h"

#include <csignal>
#include <fstream>

#include "base/json.h"
#include "base/stopwatch.h"
#include "reporting/analysis/load_results.h"
#include "reporting/views/text/status.h"
#include "sweeps/driver/trial_process.h"
#include "tests/small_disk.h"
#include "tests/sweeps/fake_trial.h"

using namespace deft;
using namespace deft::sweeps;
using test::FakeSweep;
using test::wait_for_exit;
using namespace std::string_literals;

namespace {

std::size_t run_folders(const FakeSweep& sweep) {
    const auto folder = sweep.options.root / "runs";
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("Trials that end well are stored with their cost, and not trained again", "[bare]") {
    FakeSweep sweep({"ok-a", "ok-b", "ok-c"});
    sweep.options.slots.resize(2);
    sweep.options.threads = 2;
    RunSummary summary = sweep.run();
    CHECK(summary.exit_code == kExitOk);
    CHECK(summary.ok == 3);
    CHECK_THAT(sweep.said, ContainsSubstring("3 ok"));
    const results_db::StoredTrial row = sweep.row(0);
    CHECK(row.state == "ok");
    CHECK(row.attempts == 1);
    REQUIRE(row.last_point);
    CHECK(row.last_point->loss == 2.5);
    CHECK(row.device_seconds == Approx(20));
    REQUIRE(row.usd);
    CHECK(*row.usd == Approx(20 * 3.6 / 3600));
    REQUIRE(row.attempt_rows.size() == 1);
    const results_db::AttemptRow& attempt = row.attempt_rows[0];
    REQUIRE(attempt.price);
    CHECK(attempt.price->sku == "test-cpu");
    CHECK(attempt.shape.devices == 2);
    // Libraries whose versions may change bits.
    for (const char* library : {"oneDNN", "libc", "OpenMP", "compiler", "SQLite"})
        CHECK(!Json::parse(attempt.libraries_json).at(library).get<std::string>().empty());
    CHECK_THAT(reporting::render_trial(reporting::trial_of(row)), ContainsSubstring("OpenMP libgomp"));
    const auto folder = sweep.options.root / row.workdir;
    CHECK(Json::parse(read_file(folder / "trial.json")).at("threads") == 2);
    CHECK(Json::parse(read_file(folder / "outcome.json")).at("state") == "ok");
    CHECK(read_file(folder / "log.txt") == "running ok-a\n");

    summary = sweep.run();
    CHECK(summary.already_done == 3);
    CHECK(summary.ok == 0);
    CHECK(summary.exit_code == kExitOk);
    CHECK_THAT(sweep.said, ContainsSubstring("everything was finished already"));
    CHECK(run_folders(sweep) == 3);
}

TEST_CASE("A trial that fails ends only itself, and shows its log at once", "[bare]") {
    FakeSweep sweep({"nan", "ok", "config"});
    const RunSummary summary = sweep.run();
    CHECK(summary.exit_code == kExitFailed);
    CHECK(summary.ok == 1);
    CHECK(summary.failed == 2);
    CHECK_THAT(sweep.said, ContainsSubstring("(nan): the loss is NaN at step 2"));
    CHECK_THAT(sweep.said, ContainsSubstring("\n    the loss is NaN\n"));
    CHECK_THAT(sweep.said, ContainsSubstring("no such model"));
    CHECK(sweep.row(0).fail_class == "nan");
    CHECK(sweep.row(0).attempts == 1);
    CHECK(sweep.row(2).fail_class == "config");
    CHECK(run_folders(sweep) == 3);  // neither is tried twice
}

TEST_CASE("A crash is tried once more", "[bare]") {
    FakeSweep sweep({"killed", "once", "silent", "damaged"});
    const RunSummary summary = sweep.run();
    CHECK(summary.ok == 1);
    CHECK(summary.failed == 3);
    CHECK(sweep.row(0).fail_class == "crash");
    CHECK_THAT(sweep.row(0).error, ContainsSubstring("signal 9"));
    CHECK(sweep.row(0).attempts == 2);
    CHECK(sweep.row(1).state == "ok");
    CHECK(sweep.row(1).attempts == 2);
    CHECK_THAT(sweep.row(2).error, ContainsSubstring("exited with 0"));
    CHECK(sweep.row(3).fail_class == "io");
    CHECK_THAT(sweep.row(3).error,
               ContainsSubstring("journal.jsonl:1: a damaged line: it is not valid JSON; 1 damaged line passed "
                                 "over, 3 lines taken in"));
    REQUIRE(sweep.row(3).last_point);  // what is whole is kept
    CHECK(sweep.row(3).last_point->step == 2);
}

TEST_CASE("A torn last line loses nothing of the lines before it", "[bare]") {
    FakeSweep sweep({"torn"});
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(sweep.row(0).last_point->step == 2);
}

TEST_CASE("Only some recipes, and a dry run that writes nothing", "[bare]") {
    FakeSweep sweep({"ok-a", "ok-b"});
    sweep.options.only = {"ok-b"};
    sweep.options.dry_run = true;
    CHECK(sweep.run().left == 1);
    CHECK(!std::filesystem::exists(sweep.options.root));
    sweep.options.dry_run = false;
    CHECK(sweep.run().ok == 1);
    CHECK(sweep.row(0).state == "pending");
    CHECK(sweep.row(1).state == "ok");
    sweep.options.dry_run = true;
    sweep.options.only = {};
    const RunSummary summary = sweep.run();
    CHECK(summary.left == 1);
    CHECK(summary.already_done == 1);
    sweep.options.only = {"ok_b"};
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { sweep.run(); }), ContainsSubstring("did you mean ok-b?"));
}

TEST_CASE("Fail fast starts no more trials", "[bare]") {
    FakeSweep sweep({"nan-a", "nan-b", "nan-c"});
    sweep.options.fail_fast = true;
    const RunSummary summary = sweep.run();
    CHECK(summary.failed == 1);
    CHECK(summary.left == 2);
    CHECK(summary.exit_code == kExitFailed);
}

TEST_CASE("Ctrl-C once lets running trials finish and starts no other", "[bare]") {
    FakeSweep sweep({"wait-a", "wait-b"});
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::kill(driver, SIGINT);
    ::usleep(500'000);
    sweep.touch("go");
    CHECK(wait_for_exit(driver) == kExitWorkLeft);
    const std::string said = read_file(sweep.folder.path / "said");
    CHECK_THAT(said, ContainsSubstring("draining: 1 running trial will finish, 1 will not start"));
    CHECK_THAT(said, ContainsSubstring("deft run fake.toml"));
    CHECK((sweep.row(0).state == "ok") != (sweep.row(1).state == "ok"));
    const RunSummary summary = sweep.run();
    CHECK(summary.already_done == 1);
    CHECK(summary.ok == 1);
}

TEST_CASE("Ctrl-C twice stops at once, even what does not want to", "[bare]") {
    for (const char* name : {"slow", "stubborn"}) {
        FakeSweep sweep({name});
        const pid_t driver = sweep.run_apart();
        REQUIRE(sweep.wait_for("up"));
        ::kill(driver, SIGINT);
        ::usleep(300'000);
        ::kill(driver, SIGINT);
        CHECK(wait_for_exit(driver) == 130);
        CHECK(sweep.row(0).state == "cancelled");
        CHECK(sweep.row(0).fail_class == "user");
    }
}

TEST_CASE("A trial that is asked to stop is waited for as long as it takes, and what it does is said", "[bare]") {
    FakeSweep sweep({"answers"});
    sweep.trials[0].config.checkpoint.grace_seconds = 60;
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::kill(driver, SIGTERM);
    CHECK(wait_for_exit(driver) == kExitWorkLeft);
    CHECK_THAT(read_file(sweep.folder.path / "said"), ContainsSubstring("waiting for answers/1: saving a checkpoint"));
    CHECK(sweep.row(0).state == "cancelled");
    CHECK_THAT(sweep.row(0).error, ContainsSubstring("what it had done is kept"));
}

TEST_CASE("A third Ctrl-C kills what is still waited for", "[bare]") {
    FakeSweep sweep({"stubborn"});
    sweep.trials[0].config.checkpoint.grace_seconds = 1000;
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    for (int i = 0; i < 3; ++i) {
        ::kill(driver, SIGINT);
        ::usleep(500'000);
    }
    CHECK(wait_for_exit(driver) == 130);
    CHECK(sweep.row(0).state == "cancelled");
    CHECK_THAT(sweep.row(0).error, ContainsSubstring("killed before it had saved what it had done"));
}

TEST_CASE("A trial that a signal of its own ends is a crash, also when it was asked to stop", "[bare]") {
    FakeSweep sweep({"aborts"});
    sweep.trials[0].config.checkpoint.grace_seconds = 60;
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::kill(driver, SIGTERM);
    CHECK(wait_for_exit(driver) == kExitWorkLeft);
    CHECK(sweep.row(0).state == "failed");
    CHECK(sweep.row(0).fail_class == "crash");
    CHECK_THAT(sweep.row(0).error, ContainsSubstring("signal 6"));
}

TEST_CASE("A trial that breaks its promise is ended, and tried again", "[bare]") {
    FakeSweep sweep({"hung"});
    sweep.options.hang_seconds = 0.5;
    CHECK(sweep.run().ok == 1);
    CHECK_THAT(sweep.said, ContainsSubstring("it hung: no progress for"));
    CHECK_THAT(sweep.said, ContainsSubstring("(training)"));
    CHECK(sweep.row(0).attempts == 2);
    CHECK(sweep.row(0).state == "ok");
}

TEST_CASE(
    "A trial of several ranks on GPUs sees their cards in the order of ranks, pays for all, and keeps which they were",
    "[bare]") {
    FakeSweep sweep({"cards"});
    Slot slot;
    slot.device = engine::Device::cuda;
    slot.gpu_uuids = {"GPU-b", "GPU-a"};
    slot.gpu_name = "NVIDIA H200";
    slot.per_gpu = 4;
    slot.ranks = 2;
    sweep.options.slots = {slot};
    sweep.options.slots_note = "1 of 3 GPUs stays unused";
    CHECK(sweep.run().ok == 1);
    CHECK(read_file(sweep.folder.path / "cards") == "GPU-b,GPU-a\n");
    CHECK_THAT(sweep.said, ContainsSubstring("in 1 worker of 2 ranks on NVIDIA H200, 4 a card"));
    CHECK_THAT(sweep.said, ContainsSubstring("  1 of 3 GPUs stays unused\n"));
    CHECK_THAT(reporting::render_trial(reporting::trial_of(sweep.row(0))),
               ContainsSubstring("on 2 ranks on 1/4 of 2 GPUs"));
    CHECK(sweep.row(0).device_seconds == Approx(10 * 2 / 4.0));
    const Json trial = Json::parse(read_file(sweep.options.root / sweep.row(0).workdir / "trial.json"));
    CHECK(trial.at("slots").at("gpus") == Json({"GPU-b", "GPU-a"}));
}

TEST_CASE("A trial that starts and never says a word has hung as well", "[bare]") {
    FakeSweep sweep({"stubborn"});
    sweep.options.start_seconds = 0.2;
    sweep.options.hang_seconds = 0.2;
    CHECK(sweep.run().failed == 1);
    CHECK(sweep.row(0).state == "timeout");
    CHECK(sweep.row(0).fail_class == "timeout");
    CHECK(sweep.row(0).attempts == 2);
}

TEST_CASE("Two stops and a crash still leave another try", "[bare]") {
    FakeSweep sweep({"moody"});
    CHECK(sweep.run().ok == 1);
    CHECK(sweep.row(0).attempts == 4);
}

TEST_CASE("A trial that saved a checkpoint under a killed driver was preempted", "[bare]") {
    FakeSweep sweep({"left"});
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::kill(driver, SIGKILL);
    CHECK(wait_for_exit(driver) == -SIGKILL);
    const auto folder = sweep.options.root / sweep.row(0).workdir;
    std::filesystem::remove(sweep.folder.path / "up");
    const pid_t next = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::kill(next, SIGTERM);
    CHECK(wait_for_exit(next) == kExitWorkLeft);
    CHECK(Json::parse(read_file(folder / "outcome.json")).at("state") == "preempted");
}

TEST_CASE("SIGTERM stops the sweep and its trials", "[bare]") {
    FakeSweep sweep({"slow"});
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::kill(driver, SIGTERM);
    CHECK(wait_for_exit(driver) == kExitWorkLeft);
    CHECK(sweep.row(0).state == "cancelled");
    sweep.touch("fast");
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(sweep.row(0).attempts == 2);
}

TEST_CASE("A second driver is refused while the first works", "[bare]") {
    FakeSweep sweep({"wait"});
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    CHECK_THAT(test::refusal(ErrorKind::database, [&] { sweep.run(); }), ContainsSubstring(std::to_string(driver)));
    sweep.touch("go");
    CHECK(wait_for_exit(driver) == kExitOk);
}

TEST_CASE("What a killed driver left is ended, taken in, and gone on with", "[bare]") {
    FakeSweep sweep({"slow"});
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::usleep(300'000);
    ::kill(driver, SIGKILL);
    CHECK(wait_for_exit(driver) == -SIGKILL);
    const auto orphan_log = sweep.options.root / sweep.row(0).workdir;
    sweep.touch("fast");
    const RunSummary summary = sweep.run();
    CHECK(summary.ok == 1);
    CHECK_THAT(sweep.said, ContainsSubstring("left by a driver that was killed, its process ended; now stale"));
    CHECK(Json::parse(read_file(orphan_log / "outcome.json")).at("state") == "stale");
    CHECK(sweep.row(0).state == "ok");
    CHECK(sweep.row(0).attempts == 2);
}

TEST_CASE("A trial that ended well after its driver was killed is not repeated", "[bare]") {
    FakeSweep sweep({"late"});
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::usleep(1'500'000);  // long enough for the driver to have taken the end in
    ::kill(driver, SIGKILL);
    CHECK(wait_for_exit(driver) == -SIGKILL);
    // Whoever takes it in costs it as it ran: one thread, at the price of then.
    sweep.options.threads = 4;
    sweep.spec.price->usd_per_hour = 36;
    const RunSummary summary = sweep.run();
    CHECK(summary.already_done == 1);
    CHECK(summary.ok == 0);
    CHECK(sweep.row(0).state == "ok");
    CHECK(sweep.row(0).attempts == 1);
    CHECK(sweep.row(0).device_seconds == Approx(10));
    REQUIRE(sweep.row(0).usd);
    CHECK(*sweep.row(0).usd == Approx(10 * 3.6 / 3600));
}

TEST_CASE("A trial that went on from a checkpoint costs the sum of its attempts, each at its own shape", "[bare]") {
    FakeSweep sweep({"stopped"});
    sweep.folder.write("stopped.jsonl", sweep.journal_of(0, 2.12, "stopped"));
    sweep.folder.write("ok.jsonl", sweep.journal_of(2.12, 3.18, "ok"));
    CHECK(sweep.run().ok == 1);  // both attempts in one run, on one thread
    CHECK(sweep.row(0).attempts == 2);
    CHECK(sweep.row(0).device_seconds == Approx(3.18));
    const auto& rows = sweep.row(0).attempt_rows;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].own_seconds == Approx(2.12));
    CHECK(rows[1].own_seconds == Approx(1.06));
}

TEST_CASE("A price that is stated later, of today, is that of what was trained before", "[bare]") {
    FakeSweep sweep({"ok"});
    sweep.spec.price.reset();
    CHECK(sweep.run().ok == 1);
    CHECK(!sweep.row(0).usd);
    CHECK_THAT(reporting::render_trial(reporting::trial_of(sweep.row(0))),
               ContainsSubstring("no price: set [price] in the sweep file"));
    sweep.spec.price = results_db::Price{"test-cpu", now_ms() + 3'600'000, 3.6, "today's list"};
    CHECK(sweep.run().already_done == 1);
    REQUIRE(sweep.row(0).usd);
    CHECK(*sweep.row(0).usd == Approx(10 * 3.6 / 3600));
}

TEST_CASE("A program that cannot be started ends the sweep, not its trials one by one", "[bare]") {
    FakeSweep sweep({"ok-a", "ok-b"});
    sweep.options.trial_program = "/nonexistent/program";
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { sweep.run(); }), ContainsSubstring("/nonexistent/program"));
    sweep.options.trial_program = sweep.folder.path / "trial.sh";
    CHECK(sweep.run().ok == 2);
}

TEST_CASE("A full disk ends the run cleanly, and the next one goes on", "[bare]") {
    FakeSweep sweep({"wait"});
    make_folder(sweep.options.root);
    const test::SmallDisk disk(sweep.options.root, 2048);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    const pid_t driver = sweep.run_apart();
    REQUIRE(sweep.wait_for("up"));
    ::usleep(300'000);
    {
        std::ofstream filler(sweep.options.root / "filler");
        filler << std::string(4 << 20, 'x');
    }
    sweep.touch("go");
    CHECK(wait_for_exit(driver) == kExitFailed);
    std::filesystem::remove(sweep.options.root / "filler");
    const RunSummary summary = sweep.run();
    CHECK(summary.ok == 1);
    CHECK(sweep.row(0).state == "ok");
}

TEST_CASE("A folder left of a lost database is not written into", "[bare]") {
    FakeSweep sweep({"ok"});
    const std::string old = "runs/" + sweep.trials[0].config_hash.substr(0, 12) + ".1";
    make_folder(sweep.options.root / old);
    write_file_atomically(sweep.options.root / old / "journal.jsonl", "precious\n");
    CHECK(sweep.run().ok == 1);
    CHECK(read_file(sweep.options.root / old / "journal.jsonl") == "precious\n");
    CHECK(sweep.row(0).workdir.ends_with(".2"));
}

TEST_CASE("Finished trials that the database does not know are taken in, not trained again", "[bare]") {
    FakeSweep sweep({"ok", "moody", "nan"});
    CHECK(sweep.run().ok == 2);
    const results_db::StoredTrial before = sweep.row(0);
    const std::string outcome = read_file(sweep.options.root / before.workdir / "outcome.json");
    for (const char* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(sweep.options.root / ("results.db"s + suffix));
    const RunSummary summary = sweep.run();
    CHECK(summary.already_done == 2);
    CHECK(summary.ok == 0);
    CHECK(summary.failed == 1);
    CHECK_THAT(sweep.said, ContainsSubstring("taken in ok/1: finished before in " +
                                             before.workdir.substr(before.workdir.find('/') + 1)));
    const results_db::StoredTrial after = sweep.row(0);
    CHECK(after.state == "ok");
    CHECK(after.workdir == before.workdir);
    CHECK(after.last_point->loss == before.last_point->loss);
    CHECK(after.ended_ms == before.ended_ms);
    CHECK(after.device_seconds == before.device_seconds);
    CHECK(after.code.git_sha == before.code.git_sha);
    CHECK(after.host.cpu_model == before.host.cpu_model);
    CHECK(read_file(sweep.options.root / before.workdir / "outcome.json") == outcome);
    CHECK(sweep.row(1).attempts == 4);  // those that it went on from come along

    CHECK(sweep.run().already_done == 2);
    CHECK_THAT(sweep.said, !ContainsSubstring("taken in"));
}

TEST_CASE("A folder of another configuration is not taken in, and one whose journal is damaged as failed", "[bare]") {
    FakeSweep sweep({"ok-a", "ok-b"});
    CHECK(sweep.run().ok == 2);
    const auto folder = [&](std::size_t i) { return sweep.options.root / sweep.row(i).workdir; };
    const auto journal = folder(0) / "journal.jsonl", trial = folder(1) / "trial.json";
    write_file_atomically(journal, "{\"type\":\"sta\n" + read_file(journal));
    std::string other = read_file(trial);
    other.replace(other.find(sweep.trials[1].config_hash) + 12, 1, "x");
    write_file_atomically(trial, other);
    for (const char* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(sweep.options.root / ("results.db"s + suffix));
    CHECK(sweep.run().ok == 2);
    REQUIRE(sweep.row(0).attempts == 2);
    CHECK(sweep.row(0).attempt_rows.front().fail_class == "io");
    CHECK(sweep.row(1).attempts == 1);
}

TEST_CASE("A process is distinguished from a later one of the same number", "[bare]") {
    results_db::ProcessIdentity self = identify(::getpid());
    CHECK(is_running(self));
    --self.start_ticks;
    CHECK(!is_running(self));
    ++self.start_ticks;
    self.boot_id = "another boot";
    CHECK(!is_running(self));
    CHECK(!is_running({}));
}
