#include "sweeps/driver/launchers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "sweeps/driver/local_launcher.h"
#include "sweeps/driver/slurm_launcher.h"
#include "sweeps/driver/step_launcher.h"

namespace deft::sweeps {

namespace {

// "22.05.8" of "slurm-wlm 22.05.8". Nothing where the command cannot be run.
std::optional<std::string> version_of(const char* command) {
    try {
        const ProcessOutput output = run_process({command, "--version"});
        if (output.exit_code != 0) return std::nullopt;
        const std::string line = first_line(output.out);
        return line.substr(line.rfind(' ') + 1);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

LauncherChoice choose_launcher(const std::string& text, const SlurmSettings& settings,
                               const slurm::Variables& variables) {
    if (text == "local") return {};
    if (text == "slurm") {
        const std::optional<std::string> version = version_of("sbatch");
        if (!version)
            throw Error(ErrorKind::missing, "--launcher slurm needs sbatch, which is not on PATH",
                        "start it on a login node of the cluster, or use --launcher local", "nothing was submitted");
        return {{}, *version, settings};
    }
    const std::optional<SlurmAllocation> allocation = slurm_allocation(variables);
    if (text == "auto") {
        const bool has_nodes = allocation && allocation->node_cores.size() > 1 && !slurm::is_in_step(variables);
        if (!has_nodes) return {};
        const std::optional<std::string> version = version_of("srun");
        return version ? LauncherChoice{allocation, *version, {}} : LauncherChoice{};
    }
    if (text != "steps")
        throw Error(ErrorKind::usage, fmt::format("'{}' is not a launcher", text), "use auto, local, steps or slurm");
    if (!allocation)
        throw Error(ErrorKind::missing, "--launcher steps needs a Slurm job, and this process is in none",
                    "start it inside one, as in salloc -N2 deft run SWEEP, or use --launcher local",
                    "nothing was started");
    const std::optional<std::string> version = version_of("srun");
    if (!version)
        throw Error(ErrorKind::missing, "--launcher steps needs srun, which is not on PATH",
                    "put Slurm's commands on PATH, or use --launcher local", "nothing was started");
    return {allocation, *version, {}};
}

std::unique_ptr<Launcher> make_launcher(const LauncherChoice& choice) {
    if (choice.jobs) return make_slurm_launcher(*choice.jobs);
    return choice.steps_of ? make_step_launcher(*choice.steps_of) : make_local_launcher();
}

std::string describe_launcher(const LauncherChoice& choice) {
    if (choice.jobs) return "as Slurm jobs";
    if (!choice.steps_of) return "";
    return fmt::format("as steps of Slurm on {}", counted(choice.steps_of->node_cores.size(), "node"));
}

}  // namespace deft::sweeps
