// A database that was lost and is made again from the run folders.

#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

std::vector<std::string> costs(const TinySweep& sweep) {
    return sweep.query("SELECT uid, state, own_seconds, held_seconds, waited_seconds, cpu_seconds, peak_rss_bytes, ended_ms,"
                       " exit_code, usd_per_hour FROM attempt ORDER BY uid",
                       10);
}

void lose_database(const TinySweep& sweep) {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(sweep.root / (std::string("results.db") + suffix));
}

}  // namespace

TEST_CASE("A database that is made again from the run folders has the costs of the one that was lost") {
    const TinySweep sweep("[price]\nsku = \"cpu\"\nusd_per_device_hour = 0.5\nsource = \"me\"\ndate = \"2025-01-31\"\n" +
                          test::kPlain + test::kBothTechniques);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::vector<std::string> before = costs(sweep);
    const std::string report = sweep.deft("report", {"--root", sweep.root.string(), "--format", "csv"}).out;
    lose_database(sweep);
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(costs(sweep) == before);
    CHECK(sweep.deft("report", {"--root", sweep.root.string(), "--format", "csv"}).out == report);
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
