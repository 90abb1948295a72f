// deft trial: one attempt, at a training or a scoring, in its run folder. Started by the driver, not by people.

#include "experiments/trial.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>

#include "engine/comm/on_first_rank.h"
#include "experiments/score_trial.h"
#include "sweeps/cli/commands.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/rank_cards.h"
#include "sweeps/driver/rank_group.h"
#include "sweeps/driver/rank_step.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/signals.h"
#include "sweeps/driver/stop_file.h"

namespace deft::cli {

namespace {

int run_assignment(const sweeps::TrialFile& trial, const std::function<bool()>& stop) {
    const experiments::TrialPlaces& places = trial.places;
    if (trial.assignment.work == results_db::Work::train)
        return experiments::run_trial(trial.config, places, trial.slot, stop);
    return experiments::score_trial(trial.config, trial.assignment.keys,
                                    {places.run_folder, places.data_folder, trial.assignment.checkpoint}, trial.slot,
                                    stop);
}

// One of several ranks. Stopped with a checkpoint is a good end: mpirun and srun would call another exit code a
// failure, and how the trial ended is read from its journal.
int run_rank(sweeps::TrialFile& trial, const std::function<bool()>& was_terminated) {
    const std::filesystem::path& folder = trial.places.run_folder;
    trial.slot.ranks = sweeps::join_ranks(folder, trial);
    const engine::Communicator& ranks = trial.slot.ranks;
    if (!trial.hosts.empty() && trial.slot.device == engine::Device::cuda)
        sweeps::show_cards(trial.hosts.ranks_on_each);
    sweeps::use_own_card(sweeps::rank_of_machine(ranks.rank()));
    sweeps::StopFile stop(folder, 0);  // at each step, as a signal would be heard
    const int code = run_assignment(trial, [&] {
        return engine::decided_by_first(ranks, ranks.rank() == 0 && (was_terminated() || stop.is_there()));
    });
    return code == kExitWorkLeft ? kExitOk : code;
}

}  // namespace

void add_trial(CLI::App& app, Context& context) {
    auto folder = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("trial", "Run the trial of a run folder")->group("");
    command->add_option("folder", *folder, "The run folder")->required();
    command->callback([folder, &context] {
        // A driver that is killed takes its trials with it, stopped ones too.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        sweeps::TrialFile trial = sweeps::read_trial_file(*folder);
        const sweeps::SignalWatch signals;
        if (sweeps::is_rank_of(*folder, trial)) {
            sweeps::claim_as_rank_of_hosts(*folder, trial);
            context.exit_code = run_rank(trial, [] { return false; });  // the process that started mpirun hears it
            return;
        }
        if (sweeps::is_rank_of_step(trial)) {
            // Before the ranks meet: the driver waits without a limit for an attempt that nobody has claimed.
            if (sweeps::is_first_of_step()) sweeps::claim_run_folder(*folder, true);
            context.exit_code = run_rank(trial, [&] { return signals.terminated(); });
            return;
        }
        // A driver that was killed before that line sends no signal, but then another process is the parent by now.
        if (trial.driver_pid != 0 && ::getppid() != trial.driver_pid)
            throw Error(
                ErrorKind::usage,
                fmt::format("process {}, which this trial was started for, is not its parent", trial.driver_pid),
                "start the sweep, and leave its trials to it: deft run SWEEP", *folder);
        // Rank 0 claims it on its host.
        if (trial.hosts.empty()) sweeps::claim_run_folder(*folder, trial.driver_pid == 0);
        const bool is_import =
            trial.assignment.work == results_db::Work::train && experiments::is_imported(trial.config);
        sweeps::StopFile stop(*folder);
        context.exit_code = trial.ranks > 1 && !is_import
                                ? sweeps::run_ranks(*folder, trial, signals)
                                : run_assignment(trial, [&] { return signals.terminated() || stop.is_there(); });
    });
}

}  // namespace deft::cli
