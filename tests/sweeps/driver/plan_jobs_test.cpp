// deft plan --launcher slurm: jobs, limits and the command, checked against the partition.

#include "sweeps/driver/plan_jobs.h"

#include "base/json.h"
#include "sweeps/driver/slurm_commands.h"
#include "tests/catch.h"
#include "tests/sweeps/fake_slurm.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;
using namespace deft::test;

namespace {

constexpr const char* kScontrol =
    "#!/bin/bash\n"
    "echo 'PartitionName=gpu AllowGroups=ALL Default=NO MaxTime=1:00:00 State=UP'\n"
    "echo 'PartitionName=cpu AllowGroups=ALL Default=YES MaxTime=UNLIMITED State=DOWN'\n";

SlurmReply partitions() {
    SlurmReply reply;
    reply.is_whole = true;
    reply.lines = {"PartitionName=gpu Default=NO MaxTime=1:00:00 State=UP",
                   "PartitionName=cpu Default=YES MaxTime=UNLIMITED State=DRAIN", "torn"};
    return reply;
}

}  // namespace

TEST_CASE("The limit of a job is 1.5 times its projected time in full minutes, and holds a start and a grace") {
    CHECK(projected_limit(3600, 120) == "01:30:00");
    CHECK(projected_limit(3601, 120) == "01:31:00");
    CHECK(projected_limit(115'200, 120) == "2-00:00:00");
    CHECK(projected_limit(1, 120) == "00:05:00");  // 60 s to start, 60 s of margin, 180 s before the end
}

TEST_CASE("A partition that would refuse the jobs, or let them wait, is named before they are submitted") {
    const auto notes = [](const std::string& names, std::int64_t limit) {
        std::string text;
        for (const std::string& note : partition_notes(partitions(), names, limit)) text += note + "\n";
        return text;
    };
    CHECK(notes("gpu", 3600).empty());
    CHECK_THAT(notes("gpu", 3601), ContainsSubstring("Partition gpu ends jobs after 1:00:00"));
    CHECK_THAT(notes("", 60), ContainsSubstring("Partition cpu is DRAIN: its jobs wait."));
    CHECK_THAT(notes("gpu,gup", 60), ContainsSubstring("Slurm has no partition 'gup'"));
    SlurmReply none;
    none.is_whole = true;
    CHECK_THAT(partition_notes(none, "", 0).front(), ContainsSubstring("no default partition"));
    none.is_whole = false;
    none.complaint = "cannot start scontrol";
    CHECK(partition_notes(none, "", 0) ==
          std::vector<std::string>{"The partition is not checked: cannot start scontrol."});
}

TEST_CASE("A plan of jobs counts them, and projects their time once a trial has trained") {
    const TinySweep sweep(kTwoRecipes, "[1, 2, 3]");
    const TemporaryFolder bin;
    const WithVariable path("PATH", path_with(bin, "scontrol", kScontrol));
    const std::vector<std::string> options = {"--launcher",    "slurm",  "--slurm",
                                              "partition=gpu", "--root", sweep.root.string()};
    const Ran unknown = sweep.deft("plan", options);
    CHECK(unknown.exit_code == 0);
    CHECK_THAT(unknown.out, ContainsSubstring("Slurm jobs") && ContainsSubstring("the partition's") &&
                                ContainsSubstring("Times are unknown") && ContainsSubstring("sbatch --parsable") &&
                                ContainsSubstring("--partition=gpu"));
    CHECK(std::filesystem::exists(sweep.root) == false);
    REQUIRE(sweep.run({"--only", "a"}).exit_code == 0);
    std::vector<std::string> as_json = options;
    as_json.emplace_back("--json");
    const Json jobs = Json::parse(sweep.deft("plan", as_json).out).at("slurm");
    REQUIRE(jobs.at("rows").size() == 2);
    CHECK(jobs.at("rows")[0].at("trainings") == 3);
    CHECK(jobs.at("rows")[0].at("jobs") == 1);  // of half an hour
    CHECK(jobs.at("rows")[0].at("seconds").get<double>() > 0);
    CHECK(jobs.at("rows")[0].at("limit") == "00:05:00");
    CHECK(jobs.at("command").dump().find("--time=00:05:00") != std::string::npos);
    CHECK(sweep.deft("plan", {"--slurm", "partition=gpu"}).exit_code == kExitUsage);
}
