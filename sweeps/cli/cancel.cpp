// deft cancel: the end of a sweep's Slurm jobs.

#include "sweeps/driver/cancel_jobs.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "reporting/text.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

std::vector<results_db::LiveAttempt> live_attempts_of(const results_db::Reader& reader, const std::string& sweep) {
    std::set<std::string> hashes;
    for (const results_db::TrialRow& trial : reader.planned_sweep(sweep).trials) hashes.insert(trial.config_hash);
    std::vector<results_db::LiveAttempt> live = reader.live_attempts();
    std::erase_if(live, [&](const results_db::LiveAttempt& one) { return !hashes.contains(one.config_hash); });
    return live;
}

std::string describe(const sweeps::CancelledJobs& cancelled, bool at_once) {
    if (cancelled.attempts == 0) return "No attempt of this sweep waits or runs as a Slurm job.\n";
    std::string text =
        fmt::format("{} of {}: ", counted(cancelled.attempts, "attempt"), counted(cancelled.names.size(), "Slurm job"));
    text += at_once ? "cancelled.\n" : "those that wait are cancelled, those that run save a checkpoint and end.\n";
    if (!cancelled.problem.empty())
        text += fmt::format("Slurm was not asked: {}. A job that begins later finds its stop file and ends.\n",
                            reporting::visible(cancelled.problem));
    return text;
}

}  // namespace

void add_cancel(CLI::App& app, Context&) {
    struct Arguments {
        std::string sweep;
        std::string root = sweeps::kDefaultRoot;
        bool now = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("cancel", "End the Slurm jobs of a sweep");
    command->add_option("sweep", arguments->sweep, kSweepHelp)->required();
    add_root(*command, arguments->root);
    command->add_flag("--now", arguments->now, "Cancel running jobs too, without waiting for a checkpoint");
    command->callback([arguments] {
        const results_db::Reader reader = open_results(arguments->root);
        const sweeps::CancelledJobs cancelled =
            sweeps::cancel_jobs(live_attempts_of(reader, arguments->sweep), arguments->root, arguments->now);
        print_message(describe(cancelled, arguments->now));
    });
}

}  // namespace deft::cli
