// The whole program when processes are killed, terminals vanish and disks fail.

#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>

#include "tests/small_disk.h"
#include "tests/sweeps/program.h"
#include "tests/temporary_folder.h"

using namespace deft;
using test::Process;
using test::Ran;
using test::TinySweep;
using test::wait_until;

namespace {

// Long enough to be caught at work.
const std::string kOneLong = "[[case]]\nname = \"a\"\n" + test::long_budget(60'000);
const std::string kTwoLong = kOneLong + "[[case]]\nname = \"b\"\n" + test::long_budget(60'006);

std::string results_of_ok(const TinySweep& sweep) {
    return sweep.value("SELECT count(*) FROM (SELECT DISTINCT experiment_id FROM attempt WHERE state = 'ok')");
}

// Kills the driver while a trial trains; that trial's journal.
std::filesystem::path kill_driver_at_work(const TinySweep& sweep, std::size_t finished) {
    Process driver = sweep.start();
    REQUIRE(sweep.freeze_trial(finished) > 0);
    driver.signal(SIGKILL);
    CHECK(driver.wait() == -SIGKILL);
    CHECK(wait_until([&] { return sweep.processes().empty(); }));
    for (const auto& journal : sweep.journals())
        if (read_file(journal).find("\"ended\"") == std::string::npos) return journal;
    FAIL("every trial had ended");
    return {};
}

std::vector<std::string> finished_attempts(const TinySweep& sweep) {
    return sweep.query(
        "SELECT id, created_ms, ended_ms FROM attempt WHERE kind = 'train' AND state = 'ok'"
        " ORDER BY id",
        3);
}

}  // namespace

TEST_CASE("A killed trial is tried again, and the others keep their results", "[bare]") {
    const TinySweep sweep(kTwoLong);
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    ::kill(trial, SIGKILL);
    CHECK(driver.wait() == kExitOk);
    CHECK(sweep.says("(crash): ended by signal 9"));
    CHECK(sweep.says("retry"));
    CHECK(sweep.count("ok") == "2");
    CHECK(sweep.value("SELECT fail_class || term_signal FROM attempt WHERE state = 'failed'") == "crash9");
}

TEST_CASE("A trial that is killed twice is a crash, until the next run", "[bare]") {
    const TinySweep sweep(kOneLong);
    Process driver = sweep.start();
    for (int i = 0; i < 2; ++i) {
        const pid_t trial = sweep.freeze_trial();
        REQUIRE(trial > 0);
        ::kill(trial, SIGKILL);
        CHECK(wait_until([&] { return !sweeps::is_running(sweeps::identify(trial)); }));
    }
    CHECK(driver.wait() == kExitFailed);
    CHECK(sweep.count("failed") == "2");
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(results_of_ok(sweep) == "1");
}

TEST_CASE("A killed driver leaves no process, and the next run goes on", "[bare]") {
    const TinySweep sweep(kTwoLong);
    kill_driver_at_work(sweep, 1);
    const auto finished = finished_attempts(sweep);
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("left by a driver that was killed"));
    CHECK(results_of_ok(sweep) == "2");
    CHECK(sweep.count("ok") == "2");
    const auto all = finished_attempts(sweep);
    for (const std::string& attempt : finished) CHECK(std::find(all.begin(), all.end(), attempt) != all.end());
}

TEST_CASE("A trial whose driver is gone before it begins does not begin", "[bare]") {
    const TinySweep sweep("[[case]]\nname = \"a\"\n");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const auto journal = sweep.journals().at(0);
    const std::string before = read_file(journal);
    const Ran ran = sweep.deft("trial", {journal.parent_path().string()});
    CHECK(ran.exit_code == kExitUsage);
    CHECK_THAT(ran.err, ContainsSubstring("deft run"));
    CHECK(read_file(journal) == before);
}

TEST_CASE("The program drains at Ctrl-C, and says how to go on", "[bare]") {
    const TinySweep sweep(kTwoLong);
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGINT);
    CHECK(wait_until([&] { return sweep.says("draining"); }));
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(sweep.says("deft run " + sweep.file.string() + " --root " + sweep.root.string()));
    CHECK(sweep.count("ok") >= "1");
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(sweep.count("ok") == "2");
    CHECK(sweep.attempts().size() == 2);
}

TEST_CASE("The program stops at a second Ctrl-C", "[bare]") {
    const TinySweep sweep(kTwoLong);
    Process driver = sweep.start();
    REQUIRE(sweep.freeze_trial() > 0);
    driver.signal(SIGINT);
    CHECK(wait_until([&] { return sweep.says("draining"); }));
    driver.signal(SIGINT);
    CHECK(driver.wait() == 130);
    CHECK(sweep.processes().empty());
    CHECK(sweep.count("cancelled") == "1");
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(sweep.count("ok") == "2");
}

TEST_CASE("A terminal that vanishes stops the sweep and its trials", "[bare]") {
    const TinySweep sweep(kTwoLong);
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) DEFT_SKIP("no pseudo-terminals here");
    const std::string name = ::ptsname(terminal);
    Process driver(sweep.command("run"), sweep.out(), sweep.err(), [&] {
        ::setsid();
        const int other_end = ::open(name.c_str(), O_RDWR);  // the session's terminal from now on
        for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(other_end, number);
    });
    CHECK(sweep.freeze_trial() > 0);
    ::close(terminal);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(wait_until([&] { return sweep.processes().empty(); }));
    CHECK(sweep.count("cancelled") == "1");
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(sweep.count("ok") == "2");
}

TEST_CASE("Under nohup a vanished terminal stops nothing", "[bare]") {
    const TinySweep sweep(kTwoLong);
    Process driver(sweep.command("run"), sweep.out(), sweep.err(), [] { ::signal(SIGHUP, SIG_IGN); });
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGHUP);
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitOk);
    CHECK(sweep.count("ok") == "2");
}

TEST_CASE("Half a line at a journal's end is recovered from, with nothing stored twice", "[bare]") {
    const TinySweep sweep(kTwoLong);
    const auto journal = kill_driver_at_work(sweep, 0);
    test::write_text(journal, R"({"type":"train","step":99)", true);
    CHECK(sweep.run().exit_code == kExitOk);
    const std::string text = read_file(journal);
    std::size_t points = 0;
    for (std::size_t at = text.find("\"grad_norm\""); at != std::string::npos; at = text.find("\"grad_norm\"", at + 1))
        ++points;
    CHECK(sweep.value("SELECT count(*) FROM train_point p JOIN attempt a ON a.id = p.attempt_id"
                      " WHERE a.state = 'stale'") == std::to_string(points));
    CHECK(sweep.count("ok") == "2");

    const auto attempts = sweep.attempts();
    const auto measured = sweep.measured();
    for (const auto& each : sweep.journals()) test::write_text(each, R"({"type":"tr)", true);
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(sweep.attempts() == attempts);
    CHECK(sweep.measured() == measured);
}

TEST_CASE("A journal that lost lines the database has is recovered from", "[bare]") {
    const TinySweep sweep(kOneLong);
    Process driver = sweep.start();
    REQUIRE(sweep.freeze_trial() > 0);
    CHECK(wait_until([&] { return sweep.value("SELECT spool_lines FROM attempt") > "0"; }));
    driver.signal(SIGKILL);
    CHECK(driver.wait() == -SIGKILL);
    CHECK(wait_until([&] { return sweep.processes().empty(); }));
    std::filesystem::resize_file(sweep.journals().at(0), 40);  // as after a power cut
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(results_of_ok(sweep) == "1");
}

TEST_CASE("A root that cannot be written to is named, and left as it is", "[bare]") {
    const TinySweep sweep("[[case]]\nname = \"a\"\n");
    if (::geteuid() == 0) {
        test::SmallDisk disk(sweep.root, 2000);
        if (!disk.mounted() || !disk.make_read_only()) DEFT_SKIP("needs the right to mount a tmpfs");
        const Ran ran = sweep.run();
        CHECK(ran.exit_code == kExitFailed);
        CHECK_THAT(ran.err, ContainsSubstring(sweep.root.string()));
        CHECK_THAT(ran.err, ContainsSubstring("help:"));
        return;
    }
    std::filesystem::create_directory(sweep.root);
    std::filesystem::permissions(sweep.root, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(ran.err, ContainsSubstring(sweep.root.string()));
    CHECK_THAT(ran.err, ContainsSubstring("help:"));
    std::filesystem::permissions(sweep.root, std::filesystem::perms::owner_all);
}

TEST_CASE("A full disk keeps what was measured, and the next run completes", "[bare]") {
    const TinySweep sweep(kTwoLong);
    test::SmallDisk disk(sweep.root, 8000);
    if (!disk.mounted()) DEFT_SKIP("needs the right to mount a tmpfs");
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial(1);
    REQUIRE(trial > 0);
    CHECK(wait_until([&] { return sweep.count("ok") >= "1"; }));
    test::write_text(sweep.root / "filler", std::string(16 << 20, 'x'));
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitFailed);
    CHECK(sweep.says("help: free"));
    CHECK(sweep.says("deft run " + sweep.file.string()));
    CHECK(sweep.processes().empty());
    const auto finished = finished_attempts(sweep);
    CHECK(!finished.empty());
    std::filesystem::remove(sweep.root / "filler");
    CHECK(sweep.run().exit_code == kExitOk);
    CHECK(results_of_ok(sweep) == "2");
    const auto all = finished_attempts(sweep);
    CHECK(all.size() == 2);
    for (const std::string& attempt : finished) CHECK(std::find(all.begin(), all.end(), attempt) != all.end());
}
