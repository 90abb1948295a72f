// The process of a job: attempts in turn or side by side, their ends, and the time that they held.

#include "sweeps/driver/job_runner.h"

#include <csignal>
#include <fstream>

#include "base/json.h"
#include "base/process.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/job_account.h"
#include "sweeps/driver/rank_cards.h"
#include "sweeps/driver/stop_file.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

// A job folder whose attempts run a script.
class ScriptedJob {
 public:
    ScriptedJob(const std::string& script, const std::vector<std::string>& runs, double grace_seconds = 60) {
        write_file_atomically(folder / "trial", "#!/bin/bash\ntouch \"$2/begun\"\n" + script);
        std::filesystem::permissions(folder / "trial", std::filesystem::perms::owner_all);
        job.program = (folder / "trial").string();
        job.grace_seconds = grace_seconds;
        for (const std::string& run : runs) {
            std::filesystem::create_directory(folder.path() / run);
            job.runs.push_back(folder.path() / run);
        }
    }

    Process start() {
        sweeps::write_batch_job(folder.path(), job);
        return {{DEFT_PROGRAM, "job", folder.path().string()}, folder / "out", folder / "err"};
    }
    int run() { return start().wait(); }
    bool has_begun(const std::string& run) const { return std::filesystem::exists(folder.path() / run / "begun"); }
    std::map<std::string, sweeps::RunEnd> ends() const { return sweeps::read_run_ends(folder.path()); }

    TemporaryFolder folder;
    sweeps::BatchJob job;
};

constexpr const char* kUntilKilled = "while :; do sleep 0.1; done\n";

}  // namespace

TEST_CASE("A job begins no attempt that was asked to end, and kills one that is to be killed") {
    ScriptedJob one(kUntilKilled, {"a.1", "b.1"});
    sweeps::write_stop_file(one.folder / "a.1");
    Process job = one.start();
    REQUIRE(wait_until([&] { return one.has_begun("b.1"); }));
    sweeps::write_kill_file(one.folder / "b.1");
    CHECK(job.wait() == 0);
    const auto ends = one.ends();
    REQUIRE(ends.size() == 2);
    CHECK(ends.at("a.1").cause == sweeps::RunEndCause::not_begun);
    CHECK(ends.at("b.1").cause == sweeps::RunEndCause::kill_file);
    CHECK(WTERMSIG(ends.at("b.1").wait_status) == SIGKILL);
    CHECK_FALSE(one.has_begun("a.1"));
}

TEST_CASE("A job asks its attempts to stop at SIGTERM, begins no other, and kills what exceeds the grace") {
    const int at_once = GENERATE(1, 2);
    ScriptedJob one(kUntilKilled, {"a.1", "b.1", "c.1"}, 0.3);
    one.job.at_once = at_once;
    Process job = one.start();
    REQUIRE(wait_until([&] { return one.has_begun(at_once == 1 ? "a.1" : "b.1"); }));
    REQUIRE(wait_until([&] { return one.has_begun("a.1"); }));
    job.signal(SIGTERM);
    CHECK(job.wait() == 0);
    const auto ends = one.ends();
    REQUIRE(ends.size() == 3);
    CHECK(WTERMSIG(ends.at("a.1").wait_status) == SIGKILL);
    CHECK(ends.at("a.1").cause == sweeps::RunEndCause::overdue);
    CHECK(ends.at("b.1").cause == (at_once == 1 ? sweeps::RunEndCause::not_begun : sweeps::RunEndCause::overdue));
    CHECK(ends.at("c.1").cause == sweeps::RunEndCause::not_begun);
    CHECK_FALSE(one.has_begun("c.1"));
}

TEST_CASE("A job runs as many attempts side by side as it was made for, and the next in the place of one that ends") {
    // An attempt ends once it has a file `go`.
    ScriptedJob one("until [ -e \"$2/go\" ]; do sleep 0.05; done\nexit 3\n", {"a.1", "b.1", "c.1", "d.1"});
    one.job.at_once = 2;
    Process job = one.start();
    REQUIRE(wait_until([&] { return one.has_begun("a.1") && one.has_begun("b.1"); }));
    ::usleep(500'000);
    CHECK_FALSE(one.has_begun("c.1"));
    write_file_atomically(one.folder / "b.1" / "go", "");
    REQUIRE(wait_until([&] { return one.has_begun("c.1"); }));
    CHECK_FALSE(one.has_begun("d.1"));
    for (const char* run : {"a.1", "c.1", "d.1"}) write_file_atomically(one.folder.path() / run / "go", "");
    CHECK(job.wait() == 0);
    const auto ends = one.ends();
    REQUIRE(ends.size() == 4);
    for (const auto& [run, end] : ends) CHECK(WEXITSTATUS(end.wait_status) == 3);
}

TEST_CASE("Attempts side by side on one node see cards of their own") {
    CHECK(sweeps::cards_of_share("0,1,2,3", 0, 2) == "0,1");
    CHECK(sweeps::cards_of_share("0,1,2,3", 1, 2) == "2,3");
    CHECK(sweeps::cards_of_share("GPU-a,GPU-b", 1, 1) == "GPU-b");
    CHECK(sweeps::cards_of_share("0,1,2", 1, 2) == "");
    const WithVariable cards("CUDA_VISIBLE_DEVICES", "4,5,6,7");
    ScriptedJob one("echo \"$CUDA_VISIBLE_DEVICES\" > \"$2/cards\"\nsleep 0.3\n", {"a.1", "b.1"});
    one.job.at_once = 2;
    one.job.share.gpus = 2;
    CHECK(one.run() == 0);
    CHECK(read_file(one.folder / "a.1" / "cards") == "4,5\n");
    CHECK(read_file(one.folder / "b.1" / "cards") == "6,7\n");
}

TEST_CASE("An attempt that cannot be started ends, and the others of its job go on") {
    ScriptedJob one("exit 0\n", {"a.1", "b.1"});
    std::filesystem::create_directory(one.folder / "a.1" / "log.txt");  // no file
    CHECK(one.run() == 0);
    const auto ends = one.ends();
    REQUIRE(ends.size() == 2);
    CHECK(WEXITSTATUS(ends.at("a.1").wait_status) == kExitFailed);
    CHECK(WEXITSTATUS(ends.at("b.1").wait_status) == 0);
    CHECK(one.has_begun("b.1"));
}

TEST_CASE("A job that Slurm starts twice runs what the first start has not begun") {
    ScriptedJob one("exit 0\n", {"a.1", "b.1"});
    std::filesystem::create_directory(one.folder / "a.1" / "claim");
    CHECK(one.run() == 0);
    CHECK_FALSE(one.has_begun("a.1"));
    CHECK(one.ends().size() == 1);
}

TEST_CASE("Ends in a job's file that are torn or foreign are passed over") {
    const TemporaryFolder folder;
    CHECK(sweeps::read_run_ends(folder.path()).empty());
    const auto line = [](const std::string& run, const std::string& cause) {
        return fmt::format(R"({{"type":"ended","run":"{}","wait_status":256,"cause":"{}"}})", run, cause);
    };
    write_file_atomically(folder / "job.jsonl", "[1]\n" + line("a.1", "none") + "\n{\"type\":\"x\"}\nnone\n" +
                                                    line("c.1", "a later one") + "\n" + line("a.1", "signal") + "\n" +
                                                    line("b.1", "none"));
    const auto ends = sweeps::read_run_ends(folder.path());
    REQUIRE(ends.size() == 1);
    CHECK(ends.at("a.1").wait_status == 256);
    CHECK(ends.at("a.1").cause == sweeps::RunEndCause::none);
}
