// deft trial: one attempt, at a training or a scoring, in its run folder. Started by the driver, not by people.

#include "experiments/trial.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "experiments/score_trial.h"
#include "sweeps/cli/commands.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/signals.h"

namespace deft::cli {

void add_trial(CLI::App& app, Context& context) {
    auto folder = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("trial", "Run the trial of a run folder")->group("");
    command->add_option("folder", *folder, "The run folder")->required();
    command->callback([folder, &context] {
        // A driver that is killed takes its trials with it, stopped ones too.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const sweeps::TrialFile trial = sweeps::read_trial_file(*folder);
        // A driver that was killed before that line sends no signal, but then another process is the parent by now.
        if (::getppid() != trial.driver_pid)
            throw Error(
                ErrorKind::usage,
                fmt::format("process {}, which this trial was started for, is not its parent", trial.driver_pid),
                "start the sweep, and leave its trials to it: deft run SWEEP", *folder);
        const sweeps::SignalWatch signals;
        const auto stop = [&signals] { return signals.terminated(); };
        const experiments::TrialPlaces& places = trial.places;
        context.exit_code =
            trial.assignment.work == results_db::Work::train
                ? experiments::run_trial(trial.config, places, trial.slot, stop)
                : experiments::score_trial(trial.config, trial.assignment.keys,
                                           {places.run_folder, places.data_folder, trial.assignment.checkpoint},
                                           trial.slot, stop);
    });
}

}  // namespace deft::cli
