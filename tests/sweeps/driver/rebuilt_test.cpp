// A database that was lost and is made again from the run folders.

#include "tests/sweeps/program.h"

using namespace deft;
using test::Process;
using test::Ran;
using test::TinySweep;

namespace {

std::vector<std::string> costs(const TinySweep& sweep) {
    return sweep.query(
        "SELECT uid, state, own_seconds, held_seconds, waited_seconds, cpu_seconds, peak_rss_bytes, ended_ms,"
        " exit_code, usd_per_hour FROM attempt ORDER BY uid",
        10);
}

void lose_database(const TinySweep& sweep) {
    for (const char* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(sweep.root / (std::string("results.db") + suffix));
}

}  // namespace

TEST_CASE("A database that is made again from the run folders has the costs of the one that was lost") {
    const TinySweep sweep(
        "[price]\nsku = \"cpu\"\nusd_per_device_hour = 0.5\nsource = \"me\"\ndate = \"2025-01-31\"\n" + test::kPlain +
        test::kBothTechniques);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::vector<std::string> before = costs(sweep);
    const std::string report = sweep.deft("report", {"--root", sweep.root.string(), "--format", "csv"}).out;
    lose_database(sweep);
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(costs(sweep) == before);
    CHECK(sweep.deft("report", {"--root", sweep.root.string(), "--format", "csv"}).out == report);
}

TEST_CASE("A rebuilt database has the costs of attempts that did not finish their trial") {
    const TinySweep sweep(test::kPlain + test::long_budget(400'000) + "[case.checkpoint]\nevery_seconds = 0.02\n");
    REQUIRE(sweep.stop_while_training() == kExitWorkLeft);
    {
        Process driver = sweep.start();
        const pid_t trial = sweep.freeze_trial();
        REQUIRE(trial > 0);
        driver.signal(SIGKILL);
        ::kill(trial, SIGKILL);
        driver.wait();
    }
    REQUIRE(sweep.value("SELECT count(*) FROM attempt") == "2");
    const std::filesystem::path kept = sweep.folder.path / "kept";
    std::filesystem::copy(sweep.root, kept, std::filesystem::copy_options::recursive);
    // The seconds of the third attempt are its own in each of the two.
    const auto finished = [&] {
        const Ran ran = sweep.run();
        REQUIRE(ran.exit_code == kExitOk);
        return std::pair(ran.err, sweep.query("SELECT uid, number, state, resume_step, own_seconds, held_seconds,"
                                              " waited_seconds, cpu_seconds, exit_code FROM attempt WHERE number < 3"
                                              " ORDER BY number",
                                              9));
    };
    const auto before = finished().second;
    REQUIRE(before.size() == 2);
    std::filesystem::remove_all(sweep.root);
    std::filesystem::rename(kept, sweep.root);
    lose_database(sweep);
    const auto [said, after] = finished();
    CHECK(after == before);
    CHECK_THAT(said, ContainsSubstring("taken in plain/1: left unfinished in "));
    CHECK(sweep.value("SELECT resume_step > 0 FROM attempt WHERE number = 3") == "1");
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train'") == "3");
}

TEST_CASE("A run folder whose configuration was changed is of no trial") {
    const TinySweep sweep(test::kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string attempts = sweep.value("SELECT count(*) FROM attempt");
    for (const auto& journal : sweep.journals()) {
        const std::filesystem::path file = journal.parent_path() / "trial.json";
        Json trial = Json::parse(read_file(file));
        trial["config"]["train"]["learning_rate"] = 0.5;
        write_file_atomically(file, trial.dump());
    }
    lose_database(sweep);
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, !ContainsSubstring("taken in"));
    CHECK(sweep.value("SELECT count(*) FROM attempt") == attempts);
}
