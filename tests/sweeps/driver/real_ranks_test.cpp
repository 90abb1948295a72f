// Trials whose ranks span the nodes of a real Slurm, and one of these nodes that fails.

#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

const std::vector<std::string> kOnEachNode = {"--ranks", "2", "--ranks-per-node", "1"};

// The bits of two ranks on this machine.
std::vector<std::string> bits_of_local_ranks(const std::string& recipes, const std::string& seeds) {
    return local_bits(recipes, seeds, {"--ranks", "2"});
}

// The hosts share /tmp, where Slurm's PMIx plugin would make the same folder for each.
struct RanksOnNodes {
    RanksOnNodes() {
        if (problem.empty() && !has_ranks()) problem = kNoRanks;
    }

    WithVariable own_folders{"SLURM_PMIX_TMPDIR", "/dev/shm"};
    RealSlurm slurm;
    std::string problem = slurm.problem;
};

}  // namespace

TEST_CASE("Two ranks on two nodes of a real Slurm measure the bits of two ranks on this machine",
          "[slow][cluster][bare][mpi]") {
    const RanksOnNodes nodes;
    if (!nodes.problem.empty()) DEFT_SKIP(nodes.problem.c_str());
    SweepInJobs jobs(nodes.slurm, saving_recipe(100'000), "[1, 2]", 2);
    jobs.options = kOnEachNode;
    REQUIRE(jobs.run() == 0);
    CHECK(jobs.sweep.query("SELECT DISTINCT nodes FROM attempt", 1) == std::vector<std::string>{"n[1-2]"});
    CHECK(jobs.sweep.measured() == bits_of_local_ranks(saving_recipe(100'000), "[1, 2]"));
}

TEST_CASE("Ranks on the nodes of a job for each trial measure the bits of ranks on this machine",
          "[slow][cluster][faults][bare][mpi]") {
    const RanksOnNodes nodes;
    if (!nodes.problem.empty()) DEFT_SKIP(nodes.problem.c_str());
    const TinySweep sweep(saving_recipe(100'000));
    std::vector<std::string> words =
        sweep.command("run", {"--launcher", "slurm", "--threads", "1", "--progress", "plain"});
    words.insert(words.end(), kOnEachNode.begin(), kOnEachNode.end());
    Process driver(nodes.slurm.on_login(words), sweep.out(), sweep.err());
    REQUIRE(driver.wait() == 0);
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE launcher = 'slurm' AND nodes = 'n[1-2]'") == "2");
    CHECK(sweep.measured() == bits_of_local_ranks(saving_recipe(100'000), "[1]"));
}

TEST_CASE("The node of a rank that loses its power is named, and the ranks go on later",
          "[slow][cluster][faults][bare][mpi]") {
    const RanksOnNodes nodes;
    if (!nodes.problem.empty()) DEFT_SKIP(nodes.problem.c_str());
    SweepInJobs jobs(nodes.slurm, saving_recipe(1'000'000), "[1]", 1);
    jobs.options = kOnEachNode;
    Process driver = jobs.start();
    REQUIRE(wait_until([&] { return has_checkpoint(jobs.sweep) || sweeps::has_ended(driver.pid()); }));
    nodes.slurm.host("off", "n2");
    REQUIRE(wait_until([&] { return jobs.sweep.says("stopped plain/1") || sweeps::has_ended(driver.pid()); }));
    // The job goes on without that node, where no trial of two nodes can start.
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(jobs.ends() == std::vector<std::string>{"cancelled config 1", "preempted node 1"});
    CHECK_THAT(jobs.sweep.value("SELECT error FROM attempt WHERE state = 'preempted'"),
               ContainsSubstring("Node failure on n2"));
    nodes.slurm.host("boot", "n2");
    CHECK(jobs.run() == 0);
    CHECK(jobs.sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND state = 'ok' AND resume_step > 0") ==
          "1");
    CHECK(jobs.sweep.measured() == bits_of_local_ranks(saving_recipe(1'000'000), "[1]"));
}
