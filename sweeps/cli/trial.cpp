// deft trial: one trial in its run folder. Started by the driver, not by people.

#include "experiments/trial.h"

#include <sys/prctl.h>

#include <csignal>
#include <memory>

#include "sweeps/cli/commands.h"
#include "sweeps/run_folder.h"

namespace deft::cli {

void add_trial(CLI::App& app, Context& context) {
    auto folder = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("trial", "Run the trial of a run folder")->group("");
    command->add_option("folder", *folder, "The run folder")->required();
    command->callback([folder, &context] {
        // A driver that is killed takes its trials with it.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        const sweeps::TrialFile trial = sweeps::read_trial_file(*folder);
        context.exit_code = experiments::run_trial(trial.config, *folder, trial.threads);
    });
}

}  // namespace deft::cli
