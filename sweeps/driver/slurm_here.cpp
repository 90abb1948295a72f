#include "sweeps/driver/slurm_here.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

namespace deft::sweeps {

namespace {

void ask(const std::string& command, std::chrono::milliseconds patience, SlurmHere& here) {
    ProcessOutput output;
    try {
        output = run_process({command, "--version"}, patience);
    } catch (const Error&) {
        here.problem = fmt::format("needs {}, which is not on PATH", command);
        here.fix = "put Slurm's commands on PATH";
        return;
    }
    if (output.is_overdue) {
        here.problem = fmt::format("needs {}, which did not answer within {:g} s", command,
                                   std::chrono::duration<double>(patience).count());
        here.fix =
            fmt::format("see what `{} --version` waits for, such as the file system of Slurm's configuration", command);
    } else if (output.exit_code != 0) {
        here.problem = fmt::format("needs {0}, and `{0} --version` gave exit code {1}", command, output.exit_code);
        here.fix = fmt::format("see what `{} --version` prints", command);
    } else {
        const std::string line = first_line(output.out);  // "slurm-wlm 22.05.8"
        here.version = line.substr(line.rfind(' ') + 1);
    }
}

}  // namespace

SlurmHere steps_here(const slurm::Variables& variables, std::chrono::milliseconds patience) {
    SlurmHere here;
    here.allocation = slurm_allocation(variables);
    if (here.allocation) {
        ask("srun", patience, here);
    } else if (slurm::is_in_job(variables)) {
        here.problem = "needs SLURM_JOB_CPUS_PER_NODE, in which Slurm lists the cores of the job's nodes";
        here.fix = "leave Slurm's variables to the processes of the job";
    } else {
        here.problem = "needs a Slurm job, and this process is in none";
        here.fix = "start deft inside one, as in salloc -N2 deft run SWEEP";
    }
    return here;
}

SlurmHere jobs_here(std::chrono::milliseconds patience) {
    SlurmHere here;
    ask("sbatch", patience, here);
    return here;
}

}  // namespace deft::sweeps
