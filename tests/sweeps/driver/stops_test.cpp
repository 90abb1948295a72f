// Signals while generated code runs, which keeps the stack pointer where no signal may write.

#include <chrono>
#include <thread>

#include "sweeps/driver/stop_file.h"
#include "tests/sweeps/program.h"
#include "tests/temporary_folder.h"

using namespace deft;
using test::Process;
using test::TinySweep;
using test::wait_until;

namespace {

// Most of its time is products, and it never comes to an end by itself.
const std::string kProducts = R"toml(
[[case]]
name = "a"
[case.model]
layers = 2
width = 128
heads = 4
seqlen = 64
[case.train]
batch_size = 8
budget_tokens = 1_000_000_000
[case.checkpoint]
every_seconds = 0
)toml";

void pause_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::size_t training_journals(const TinySweep& sweep) {
    std::size_t count = 0;
    for (const auto& journal : sweep.journals()) count += read_file(journal).find("\"train\"") != std::string::npos;
    return count;
}

}  // namespace

TEST_CASE("Forty stops end forty attempts with a checkpoint", "[slow]") {
    constexpr int kStops = 40;
    const TinySweep sweep(kProducts);
    for (int i = 0; i < kStops; ++i) {
        Process driver = sweep.start();
        REQUIRE(wait_until([&] { return training_journals(sweep) == static_cast<std::size_t>(i) + 1; }));
        pause_ms(i * 7 % 40);
        driver.signal(SIGTERM);
        REQUIRE(driver.wait() == kExitWorkLeft);
    }
    CHECK(sweep.count("cancelled") == std::to_string(kStops));
    CHECK(sweep.value("SELECT count(*) FROM attempt") == std::to_string(kStops));
    // Each went on from where the one before it had stopped.
    CHECK(sweep.value("SELECT count(DISTINCT resume_step) FROM attempt WHERE resume_step > 0") ==
          std::to_string(kStops - 1));
}

TEST_CASE("A stop file in its run folder makes a trial save a checkpoint and end, and the next attempt goes on") {
    const TinySweep sweep(kProducts);
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    const std::filesystem::path run = std::filesystem::directory_iterator(sweep.root / "runs")->path();
    CHECK_FALSE(sweeps::has_stop_file(run));
    sweeps::write_stop_file(run);
    ::kill(trial, SIGCONT);
    CHECK(wait_until([&] { return sweep.count("preempted") == "1"; }));
    REQUIRE(wait_until([&] { return training_journals(sweep) == 2; }));
    driver.signal(SIGTERM);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE resume_step > 0") == "1");
}

TEST_CASE("A stop file is looked for at most once in its interval, and found for good") {
    const test::TemporaryFolder folder;
    sweeps::StopFile often(folder.path(), 0), seldom(folder.path(), 1000);
    CHECK_FALSE(often.is_there());
    CHECK_FALSE(seldom.is_there());
    sweeps::write_stop_file(folder.path());
    CHECK(often.is_there());
    CHECK_FALSE(seldom.is_there());
    std::filesystem::remove(folder / "stop");
    CHECK(often.is_there());
}

TEST_CASE("A storm of signals does a trial no harm") {
    const TinySweep sweep(kProducts);
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    ::kill(trial, SIGCONT);
    const auto points = [&] { return sweep.value("SELECT count(*) FROM train_point"); };
    for (int i = 0; i < 300; ++i) {
        for (const int signal : {SIGINT, SIGCHLD, SIGWINCH, SIGCONT, SIGURG, SIGPIPE}) ::kill(trial, signal);
        pause_ms(3);
    }
    const std::string before = points();
    CHECK(wait_until([&] { return points() != before; }));
    CHECK(sweeps::is_running(sweeps::identify(trial)));
    for (int i = 0; i < 15; ++i) {
        ::kill(trial, SIGTERM);
        ::kill(trial, SIGHUP);
        pause_ms(1);
    }
    CHECK(wait_until([&] { return sweep.count("preempted") == "1"; }));
    driver.signal(SIGTERM);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(sweep.count("failed") == "0");
}
