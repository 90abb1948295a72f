// mpirun as deft calls it.

#include "sweeps/driver/mpirun.h"

#include "base/process.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("ranks stay on this machine inside an allocation of others", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    std::vector<std::string> argv = sweeps::mpirun_environment();
    for (const char* variable : {"SLURM_JOBID=7", "SLURM_JOB_ID=7", "SLURM_NODELIST=none[1-2]", "SLURM_NNODES=2",
                                 "SLURM_TASKS_PER_NODE=1(x2)", "SLURM_JOB_CPUS_PER_NODE=1(x2)"})
        argv.emplace_back(variable);
    argv.insert(argv.begin(), "env");
    for (const std::string& word : sweeps::mpirun_argv(2, {"uname", "-n"})) argv.push_back(word);
    const ProcessOutput ran = run_process(argv);
    CHECK(ran.exit_code == 0);
    const std::string here = run_process({"uname", "-n"}).out;
    CHECK(ran.out == here + here);
}

TEST_CASE("a user's own choice of Open MPI's parts stays", "[bare]") {
    const auto sets = [](const std::string& name) {
        for (const std::string& entry : sweeps::mpirun_environment())
            if (entry.starts_with(name + "=")) return true;
        return false;
    };
    CHECK(sets("OMPI_MCA_ras"));
    CHECK(sets("OMPI_MCA_plm_rsh_agent"));
    const WithVariable allocation("OMPI_MCA_ras", "slurm"), agent("OMPI_MCA_plm_rsh_agent", "ssh");
    CHECK(!sets("OMPI_MCA_ras"));
    CHECK(!sets("OMPI_MCA_plm_rsh_agent"));
}
