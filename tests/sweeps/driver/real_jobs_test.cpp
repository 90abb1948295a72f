// Trials as jobs of a real Slurm that are cancelled, adopted, lost with their node, and whose drivers are killed.

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("Jobs of a real Slurm measure the bits of trials on this machine, one or several a job",
          "[slow][cluster][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const std::string seeds = "[1, 2, 3, 4, 5, 6, 7, 8]";
    const std::vector<std::string> local = local_bits(saving_recipe(100'000), seeds);
    for (const char* pack : {",pack=1", ",pack=4", ",at_once=3", ",at_once=4,nodes=2"}) {
        CAPTURE(pack);
        const QueuedSweep jobs(slurm, saving_recipe(100'000), seeds);
        REQUIRE(jobs.run("cpu:8", pack) == 0);
        CHECK(jobs.sweep.count("ok") == "8");
        CHECK(jobs.sweep.measured() == local);
        if (std::string(pack).find("nodes=2") != std::string::npos)
            CHECK(jobs.sweep.value("SELECT max(n) FROM (SELECT count(DISTINCT nodes) AS n FROM attempt"
                                   " GROUP BY substr(job, 1, instr(job, '.')))") == "2");
        CHECK(jobs.sweep.says("core-hours"));
    }
}

TEST_CASE("Jobs of a real Slurm outlive their driver, and the next one adopts them", "[slow][cluster][bare]") {
    const int signal = GENERATE(SIGINT, SIGKILL);
    CAPTURE(signal);
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const QueuedSweep jobs(slurm, saving_recipe(400'000), "[1, 2]");
    Process driver = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen(driver, 2);
        REQUIRE(frozen.is_complete);
        const pid_t pid = jobs.driver();
        REQUIRE(pid > 0);
        ::kill(pid, signal);
        driver.wait();
    }
    CHECK(jobs.sweep.value("SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')") == "2");
    CHECK(jobs.run() == 0);
    CHECK(jobs.sweep.says("adopted 2 attempts"));
    CHECK(jobs.sweep.value("SELECT count(*) FROM attempt WHERE state <> 'ok'") == "0");
    CHECK(jobs.sweep.measured() == local_bits(saving_recipe(400'000), "[1, 2]"));
}

TEST_CASE("A running job of a real Slurm that scancel ends is held, and deft cancel ends all",
          "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const QueuedSweep jobs(slurm, saving_recipe(400'000), "[1, 2]");
    Process driver = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen(driver, 2);
        REQUIRE(frozen.is_complete);
        CHECK(slurm.scancel(frozen.steps.front().job));
    }
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(jobs.sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND state = 'cancelled' AND fail_class ="
                           " 'user'") == "1");
    CHECK(jobs.sweep.count("ok") == "1");

    Process again = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen(again, 1);
        REQUIRE(frozen.is_complete);
        Process cancel(jobs.sweep.command("cancel", {"tiny", "--root", jobs.sweep.root.string()}),
                       jobs.sweep.folder.path / "cancel.out", jobs.sweep.folder.path / "cancel.err");
        CHECK(cancel.wait() == 0);
    }
    CHECK(again.wait() == kExitWorkLeft);
    CHECK(jobs.run() == 0);
    CHECK(jobs.sweep.count("ok") == "2");
    CHECK(jobs.sweep.measured() == local_bits(saving_recipe(400'000), "[1, 2]"));
}

TEST_CASE("A node of a real Slurm that loses its power costs its job's trial no try", "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const QueuedSweep jobs(slurm, saving_recipe(1'000'000), "[1, 2, 3, 4, 5, 6]");
    Process driver = jobs.start("cpu:6");
    {
        const FrozenTrainings frozen = jobs.frozen(driver, 6);
        REQUIRE(frozen.is_complete);
        slurm.host("off", "n2");
    }
    REQUIRE(wait_until([&] { return slurm.is_down("n2"); }));
    slurm.host("boot", "n2");
    CHECK(driver.wait() == 0);
    CHECK(jobs.sweep.count("ok") == "6");
    CHECK(jobs.sweep.count("failed") == "0");
    CHECK(jobs.sweep.value("SELECT count(*) > 0 FROM attempt WHERE state = 'preempted' AND fail_class = 'node'") ==
          "1");
    CHECK(jobs.sweep.measured() == local_bits(saving_recipe(1'000'000), "[1, 2, 3, 4, 5, 6]"));
}
