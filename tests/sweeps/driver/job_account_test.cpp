// The cores and cards that jobs held, and the share that no attempt used.

#include "sweeps/driver/job_account.h"

#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/sweeps/fake_slurm.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

// A root with job folders.
class Jobs {
 public:
    std::filesystem::path add(const std::string& name, const std::vector<std::string>& runs, sweeps::JobShare share,
                              const std::string& lines) const {
        const std::filesystem::path job = folder.path() / "jobs" / name;
        std::filesystem::create_directories(job);
        sweeps::BatchJob made;
        made.program = "/deft";
        for (const std::string& run : runs) made.runs.emplace_back("/root/runs/" + run);
        made.share = share;
        sweeps::write_batch_job(job, made);
        if (!lines.empty()) write_file_atomically(job / sweeps::kJobLines, lines);
        return job;
    }
    sweeps::JobAccount of(const std::set<std::string>& runs) const {
        return sweeps::account_of_jobs(folder.path(), runs);
    }

    TemporaryFolder folder;
};

std::string began(int seconds, int cores, int gpus) {
    return fmt::format("{{\"type\":\"began\",\"time_ms\":{},\"cores\":{},\"gpus\":{}}}\n", seconds * 1000, cores, gpus);
}
std::string ended(int seconds, int held) {
    return fmt::format("{{\"type\":\"ended\",\"run\":\"r\",\"time_ms\":{},\"held_ms\":{}}}\n", seconds * 1000,
                       held * 1000);
}
std::string finished(int seconds) {
    return fmt::format("{{\"type\":\"finished\",\"time_ms\":{}}}\n", seconds * 1000);
}

}  // namespace

TEST_CASE("A job holds all that Slurm gave it from its begin to its end, and its attempts use their shares") {
    const Jobs jobs;
    // Four cores for 3600 s; two attempts of two cores use them for 3600 s and 1800 s.
    jobs.add("a", {"a.1", "b.1"}, {1, 1, 2, 0},
             began(1000, 4, 0) + ended(2800, 1800) + ended(4600, 3600) + finished(4600));
    const sweeps::JobAccount account = jobs.of({"b.1"});
    CHECK(account.jobs == 1);
    CHECK(account.cores.held == Approx(14'400));
    CHECK(account.cores.used == Approx(10'800));
    CHECK(account.cores.idle_share() == Approx(0.25));
    CHECK(account.cards.held == 0);
    CHECK(sweeps::describe(account, std::nullopt) == "held 4 core-hours, 25.0% idle in 1 job");
    CHECK(sweeps::describe(account, results_db::Price{"x", 0, 0.5, ""}) ==
          "held 4 core-hours, 25.0% idle ($2.00) in 1 job");
}

TEST_CASE("Hours of a large sweep are written out") {
    sweeps::JobAccount account;
    account.jobs = 40;
    account.cores = {1234.4 * 3600, 1234.4 * 3600};
    CHECK(sweeps::describe(account, std::nullopt) == "held 1234 core-hours in 40 jobs");
}

TEST_CASE("A job with cards is accounted by its cards") {
    const Jobs jobs;
    jobs.add("a", {"a.1"}, {1, 1, 8, 1}, began(0, 16, 2) + ended(3600, 3600) + finished(3600));
    jobs.add("b", {"b.1"}, {1, 1, 1, 0}, began(0, 1, 0) + ended(3600, 3600) + finished(3600));
    const sweeps::JobAccount account = jobs.of({"a.1", "b.1"});
    CHECK(account.cards.held == Approx(7200));
    CHECK(account.cards.used == Approx(3600));
    CHECK(account.cores.held == Approx(3600));
    CHECK(sweeps::describe(account, std::nullopt) == "held 1 core-hours and 2 card-hours, 50.0% idle in 2 jobs");
}

TEST_CASE("Other sweeps' jobs, jobs that never began and lines that are torn add nothing") {
    const Jobs jobs;
    jobs.add("a", {"a.1"}, {1, 1, 1, 0}, began(0, 1, 0) + ended(10, 10) + finished(10));
    jobs.add("b", {"b.1"}, {1, 1, 1, 0}, "");
    jobs.add("c", {"c.1"}, {1, 1, 1, 0},
             ended(5, 5) + "[1]\nnone\n" + began(10, 1, 0) + "{\"type\":7}\n" + ended(20, 10) + "{\"type\":\"fin");
    CHECK(jobs.of({"a.1"}).cores.held == Approx(10));
    CHECK(jobs.of({"b.1"}).jobs == 0);
    CHECK(sweeps::describe(jobs.of({"b.1"}), std::nullopt).empty());
    CHECK(jobs.of({"c.1"}).cores.held == Approx(10));  // until its last whole line
    CHECK(jobs.of({"c.1"}).cores.used == Approx(10));
}

TEST_CASE("A job that Slurm starts twice holds its cores twice") {
    const Jobs jobs;
    jobs.add("a", {"a.1"}, {1, 1, 1, 0},
             began(0, 1, 0) + ended(10, 10) + began(100, 1, 0) + ended(130, 30) + finished(140));
    CHECK(jobs.of({"a.1"}).cores.held == Approx(50));
    CHECK(jobs.of({"a.1"}).cores.used == Approx(40));
}

TEST_CASE("A job notes the cores and cards of all its nodes") {
    const TemporaryFolder folder;
    sweeps::BatchJob job;
    job.share = {1, 1, 2, 1};
    job.at_once = 3;
    sweeps::note_job_begin(folder.path(), job);
    CHECK_THAT(read_file(folder / sweeps::kJobLines),
               ContainsSubstring("\"cores\":6") && ContainsSubstring("\"gpus\":3"));
    const WithVariable id("SLURM_JOB_ID", "7"), cores("SLURM_JOB_CPUS_PER_NODE", "4(x2),2"),
        cards("SLURM_GPUS_ON_NODE", "2");
    sweeps::note_job_begin(folder.path(), job);
    CHECK_THAT(read_file(folder / sweeps::kJobLines),
               ContainsSubstring("\"cores\":10") && ContainsSubstring("\"gpus\":6"));
}
