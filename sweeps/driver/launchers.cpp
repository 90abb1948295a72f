#include "sweeps/driver/launchers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "sweeps/driver/local_launcher.h"
#include "sweeps/driver/step_launcher.h"

namespace deft::sweeps {

namespace {

bool has_srun() {
    try {
        return run_process({"srun", "--version"}).exit_code == 0;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

LauncherChoice choose_launcher(const std::string& text, const slurm::Variables& variables) {
    if (text == "local") return {};
    const std::optional<SlurmAllocation> allocation = slurm_allocation(variables);
    if (text == "auto") {
        const bool has_nodes = allocation && allocation->node_cores.size() > 1 && !slurm::is_in_step(variables);
        return has_nodes && has_srun() ? LauncherChoice{allocation} : LauncherChoice{};
    }
    if (text != "steps")
        throw Error(ErrorKind::usage, fmt::format("'{}' is not a launcher", text), "use auto, local or steps");
    if (!allocation)
        throw Error(ErrorKind::missing, "--launcher steps needs a Slurm job, and this process is in none",
                    "start it inside one, as in salloc -N2 deft run SWEEP, or use --launcher local",
                    "nothing was started");
    if (!has_srun())
        throw Error(ErrorKind::missing, "--launcher steps needs srun, which is not on PATH",
                    "put Slurm's commands on PATH, or use --launcher local", "nothing was started");
    return {allocation};
}

std::unique_ptr<Launcher> make_launcher(const LauncherChoice& choice) {
    return choice.steps_of ? make_step_launcher(*choice.steps_of) : make_local_launcher();
}

std::string describe_launcher(const LauncherChoice& choice) {
    if (!choice.steps_of) return "";
    return fmt::format("as steps of Slurm on {}", counted(choice.steps_of->node_cores.size(), "node"));
}

}  // namespace deft::sweeps
