// Attempts of Slurm jobs whose end nobody knows, and those that never began.

#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/process.h"
#include "sweeps/driver/claim.h"
#include "tests/sweeps/one_job.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;
using sweeps::BatchEnd;

namespace {

// Accounting's answer on the first job, with its name for NAME.
void write_accounting(const OneJob& one, std::string answer) {
    std::string name = read_file(one.cluster.bin / "queue" / "100");
    name = name.substr(4, name.find('|', 4) - 4);
    if (const std::size_t at = answer.find("NAME"); at != std::string::npos) answer.replace(at, 4, name);
    one.cluster.write("sacct.txt", answer);
}

std::string end_line(const std::string& run, int wait_status, const std::string& cause) {
    return fmt::format(R"({{"type":"ended","run":"{}","wait_status":{},"cause":"{}"}})", run, wait_status, cause) +
           "\n";
}

// Three attempts in the second job, of which the first has begun. The first job shows whether the settings fit.
class Packed {
 public:
    Packed() {
        one.start();
        CHECK(one.look_until_ended().wait_status == 0);
        one.cluster.write("first", "begins=false\n");
        first = one.start("x.1");
        second = one.start("y.1");
        third = one.start("z.1");
        one.launcher->submit(false);
        REQUIRE(std::filesystem::exists(one.cluster.bin / "queue" / "101"));
        sweeps::claim_run_folder(one.run.parent_path() / "x.1");
    }
    std::filesystem::path journal() const { return one.job_folder().parent_path() / "x.1" / "job.jsonl"; }

    std::map<sweeps::RunId, sweeps::RunStatus> all_ended() const {
        std::map<sweeps::RunId, sweeps::RunStatus> ended;
        REQUIRE(wait_until([&] {
            for (const auto& [id, status] : one.launcher->look())
                if (status.phase == sweeps::RunPhase::ended) ended[id] = status;
            return ended.size() == 3;
        }));
        return ended;
    }

    OneJob one{"exit 0\n", 30, {.pack = 3}};
    sweeps::RunId first = 0, second = 0, third = 0;
};

}  // namespace

TEST_CASE("A job that had begun and left the queue without a word is forgotten, unless accounting has its end") {
    const auto [accounting, end] =
        GENERATE(table<std::string, BatchEnd>({{"", BatchEnd::forgotten},
                                               {"100|NAME\n", BatchEnd::forgotten},
                                               {"100|NAME|RUNNING\n", BatchEnd::forgotten},
                                               {"100|another job of that number|TIMEOUT\n", BatchEnd::forgotten},
                                               {"100|NAME|TIMEOUT\n", BatchEnd::time_limit},
                                               {"100|NAME|NODE_FAIL\n", BatchEnd::node_failure},
                                               {"100|NAME|FAILED\n", BatchEnd::loss},
                                               {"100|NAME|COMPLETED\n", BatchEnd::loss}}));
    CAPTURE(accounting);
    OneJob one(kForever);
    one.cluster.write("first", "begins=false\n");
    one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    sweeps::claim_run_folder(one.run);
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::running; });
    if (!accounting.empty()) write_accounting(one, accounting);
    one.cluster.remove("queue/100");
    const sweeps::RunStatus status = one.look_until_ended();
    CHECK(status.batch_end == end);
    CHECK(status.batch_words == (end == BatchEnd::time_limit     ? "TIMEOUT"
                                 : end == BatchEnd::node_failure ? "NODE_FAIL"
                                                                 : "it is not in the queue"));
}

TEST_CASE("An attempt that was killed with its job is forgotten where nobody knows the job's end") {
    const auto [signal, left, end] =
        GENERATE(table<int, bool, BatchEnd>({{SIGKILL, true, BatchEnd::forgotten},
                                             {SIGTERM, true, BatchEnd::forgotten},
                                             {SIGSEGV, true, BatchEnd::none},      // no end of Slurm's making
                                             {SIGKILL, false, BatchEnd::none}}));  // the job goes on
    CAPTURE(signal, left);
    OneJob one(kForever);
    one.cluster.write("first", "begins=false\n");
    one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    if (left)
        one.cluster.remove("queue/100");
    else
        one.cluster.set_state("100", "RUNNING");
    write_file_atomically(one.job_folder() / "job.jsonl", end_line("abc.1", signal, "none"));
    const sweeps::RunStatus status = one.look_until_ended();
    CHECK(status.batch_end == end);
    CHECK(WTERMSIG(status.wait_status) == signal);
}

TEST_CASE("Packed attempts that had not begun when their job's time ended did not begin") {
    const auto [state, end_of_job, end_of_others] = GENERATE(
        table<std::string, BatchEnd, BatchEnd>({{"", BatchEnd::time_limit, BatchEnd::unbegun},
                                                {"TIMEOUT", BatchEnd::time_limit, BatchEnd::unbegun},
                                                {"COMPLETED", BatchEnd::time_limit, BatchEnd::unbegun},
                                                {"OUT_OF_MEMORY", BatchEnd::out_of_memory, BatchEnd::unbegun},
                                                {"PREEMPTED", BatchEnd::preemption, BatchEnd::preemption},
                                                {"NODE_FAIL", BatchEnd::node_failure, BatchEnd::node_failure},
                                                {"CANCELLED", BatchEnd::cancellation, BatchEnd::cancellation}}));
    CAPTURE(state);
    const Packed jobs;
    if (state.empty())
        jobs.one.cluster.remove("queue/101");
    else
        jobs.one.cluster.set_state("101", state);
    SECTION("its job wrote so") {
        write_file_atomically(jobs.journal(), end_line("x.1", W_EXITCODE(kExitWorkLeft, 0), "signal") +
                                                  end_line("y.1", 0, "not_begun") + end_line("z.1", 0, "not_begun"));
        auto ended = jobs.all_ended();
        CHECK(ended[jobs.first].batch_end == end_of_job);
        for (const sweeps::RunId run : {jobs.second, jobs.third}) {
            CHECK(ended[run].batch_end == end_of_others);
            CHECK(WTERMSIG(ended[run].wait_status) == SIGKILL);
        }
    }
    SECTION("its job wrote nothing") {
        auto ended = jobs.all_ended();
        const bool is_unknown = state.empty(), is_no_reason = state == "COMPLETED";
        CHECK(ended[jobs.first].batch_end == (is_unknown     ? BatchEnd::forgotten
                                              : is_no_reason ? BatchEnd::loss
                                                             : end_of_job));
        for (const sweeps::RunId run : {jobs.second, jobs.third}) CHECK(ended[run].batch_end == end_of_others);
    }
}

TEST_CASE("The first attempt of a job that had not begun when the job's time ended met its time limit") {
    const bool is_written = GENERATE(false, true);
    OneJob one(kForever);
    one.cluster.write("first", "begins=false\n");
    one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    one.cluster.set_state("100", "TIMEOUT");
    if (is_written) write_file_atomically(one.job_folder() / "job.jsonl", end_line("abc.1", 0, "not_begun"));
    CHECK(one.look_until_ended().batch_end == BatchEnd::time_limit);
}

TEST_CASE("A packed trial whose job's time ended before it began costs no try") {
    const std::string recipes = kPlain + long_budget(200'000), seeds = "[1, 2]";
    const TinySweep local(recipes, seeds), sweep(recipes, seeds);
    const Cluster cluster(sweep.folder);
    Process driver = sweep.start({"--launcher", "slurm", "--slurm", "pack=2", "--slots", "cpu:2"});
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    const int leader = std::atoi(read_file(cluster.bin / "numbers" / "100").c_str());
    REQUIRE(leader > 1);
    ::kill(leader, SIGTERM);
    ::kill(trial, SIGCONT);
    REQUIRE(wait_until([&] { return std::filesystem::exists(cluster.bin / "last.100"); }));
    cluster.write("queue/100", read_file(cluster.bin / "last.100"));
    cluster.set_state("100", "TIMEOUT");
    CHECK(driver.wait() == 0);
    CHECK_FALSE(sweep.says("retry "));
    CHECK(sweep.query("SELECT state, fail_class, count(*) FROM attempt WHERE kind = 'train' GROUP BY 1, 2", 3) ==
          std::vector<std::string>{"ok  2", "preempted preempt 1", "preempted timeout 1"});
    CHECK_THAT(sweep.value("SELECT error FROM attempt WHERE fail_class = 'preempt'"),
               ContainsSubstring("its job ended before it began: TIMEOUT"));
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    CHECK(sweep.measured() == local.measured());
}
