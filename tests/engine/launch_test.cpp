// The variables of mpirun, srun, sbatch and torchrun, and the processes that are refused.

#include "engine/comm/launch.h"

#include <map>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;

namespace {

using Variables = std::map<std::string, std::string>;

// The launch of a process that has these variables, and no others of launchers.
Launch launch_with(const Variables& variables) {
    std::vector<std::unique_ptr<WithVariable>> set;
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "RANK", "WORLD_SIZE",
                             "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"}) {
        const auto given = variables.find(name);
        set.push_back(std::make_unique<WithVariable>(name, given == variables.end() ? "" : given->second));
        if (given == variables.end()) ::unsetenv(name);
    }
    return launch_of_this_process();
}

Variables with(Variables variables, const Variables& others) {
    for (const auto& [name, value] : others) variables[name] = value;
    return variables;
}

void check(const Variables& variables, Launcher by, const std::string& processes) {
    const Launch launch = launch_with(variables);
    CHECK(launch.by == by);
    CHECK(launch.processes == processes);
}

const Variables kMpirun = {{"OMPI_COMM_WORLD_SIZE", "5"}};
const Variables kPmix = {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.800.1"}};
const Variables kTorchrun = {{"RANK", "2"}, {"WORLD_SIZE", "3"}};
const Variables kSrun = {{"SLURM_JOB_ID", "800"},
                         {"SLURM_STEP_ID", "1"},
                         {"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_NTASKS", "4"},
                         {"SLURM_PROCID", "3"}};
const Variables kOneTask = {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}};

}  // namespace

TEST_CASE("a launcher is known by its variables, and the one that is nearest goes before others") {
    check({}, Launcher::none, "1");
    check(kMpirun, Launcher::mpirun, "5");
    check(with(with(kSrun, kTorchrun), kMpirun), Launcher::mpirun, "5");
    check(with(kSrun, kPmix), Launcher::pmix, "4");
    check(with(with(kSrun, kTorchrun), kPmix), Launcher::pmix, "4");
    check(kPmix, Launcher::pmix, "");
    check(kTorchrun, Launcher::torchrun, "3");
    check(with(kSrun, kTorchrun), Launcher::torchrun, "3");
    check(kSrun, Launcher::srun, "4");
}

TEST_CASE("a process that its launcher started alone has none") {
    check(with(kSrun, kOneTask), Launcher::none, "1");
    check(with(with(kSrun, kPmix), kOneTask), Launcher::none, "1");
    check({{"RANK", "0"}, {"WORLD_SIZE", "1"}}, Launcher::none, "1");
    check({{"WORLD_SIZE", "3"}}, Launcher::none, "1");
    check({{"PMIX_RANK", "1"}}, Launcher::none, "1");
    // torchrun within a step of one task on each node.
    check(with(with(with(kSrun, kPmix), kOneTask), kTorchrun), Launcher::torchrun, "3");
}

TEST_CASE("a process of an allocation, and of Slurm's own steps, is alone") {
    // The shell of salloc, and the script of sbatch, which has a SLURM_PROCID.
    const Variables allocation = {{"SLURM_JOB_ID", "800"}, {"SLURM_NTASKS", "4"}};
    check(allocation, Launcher::none, "1");
    check(with(allocation, {{"SLURM_PROCID", "0"}}), Launcher::none, "1");
    for (const char* step : {"4294967290", "4294967291", "4294967292"})
        check(with(kSrun, {{"SLURM_STEP_ID", step}}), Launcher::none, "1");
    for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}) {
        Variables lacking = kSrun;
        lacking.erase(name);
        check(lacking, Launcher::none, "1");
    }
}

TEST_CASE("several processes without MPI between them are refused, with both ways to start ranks") {
    require_mpi_between(launch_with({}));
    require_mpi_between(launch_with(kMpirun));
    require_mpi_between(launch_with(with(kSrun, kPmix)));
    const std::string of_srun = refusal([] { require_mpi_between(launch_with(kSrun)); },
                                        "srun started 4 processes of this program without MPI");
    CHECK_THAT(of_srun, ContainsSubstring("mpirun -n 4 or srun --mpi=pmix -n 4"));
    CHECK_THAT(of_srun, ContainsSubstring("nothing was started"));
    CHECK(refusal(
              [] {
                  require_mpi_between(launch_with(with(kTorchrun, {{"WORLD_SIZE", "3x"}})));
              },
              "torchrun started 3x processes of this program without MPI") != "accepted");
    CHECK(refusal(
              [] {
                  require_mpi_between(launch_with(with(kTorchrun, {{"WORLD_SIZE", ""}})));
              },
              "torchrun started this process, perhaps with others, without MPI") != "accepted");
}

TEST_CASE("a command that starts ranks itself is one process") {
    require_alone(launch_with({}), "driver");
    require_alone(launch_with(with(kSrun, kOneTask)), "driver");
    require_alone(launch_with({{"OMPI_COMM_WORLD_SIZE", "1"}}), "driver");
    for (const Variables& several : {kMpirun, kTorchrun, kSrun, with(kSrun, kPmix)})
        CHECK_THAT(
            refusal(
                ErrorKind::usage, [&] { require_alone(launch_with(several), "driver"); }, "each would be a driver"),
            ContainsSubstring("start one, which starts its trials' ranks"));
}
