#include "sweeps/driver/launchers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sweeps/driver/local_launcher.h"
#include "sweeps/driver/slurm_here.h"
#include "sweeps/driver/slurm_launcher.h"
#include "sweeps/driver/step_launcher.h"

namespace deft::sweeps {

LauncherChoice choose_launcher(const std::string& text, const SlurmSettings& settings,
                               const slurm::Variables& variables) {
    if (text == "local") return {};
    if (text != "auto" && text != "steps" && text != "slurm")
        throw Error(ErrorKind::usage, fmt::format("'{}' is not a launcher", text), "use auto, local, steps or slurm");
    if (text == "auto" && !auto_means_steps(slurm_allocation(variables), variables)) return {};
    const SlurmHere here = text == "slurm" ? jobs_here() : steps_here(variables);
    if (here.problem.empty() && text == "slurm") return {{}, here.version, settings};
    if (here.problem.empty()) return {here.allocation, here.version};
    if (text == "auto") return {.warning = "the other nodes of this Slurm job stay idle: a step " + here.problem};
    throw Error(ErrorKind::missing, fmt::format("--launcher {} {}", text, here.problem),
                here.fix + ", or use --launcher local", "nothing was started");
}

bool auto_means_steps(const std::optional<SlurmAllocation>& allocation, const slurm::Variables& variables) {
    return allocation && allocation->node_cores.size() > 1 && !slurm::is_in_step(variables);
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
