// deft show: everything known about one trial.

#include <memory>

#include "reporting/status.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

void add_show(CLI::App& app, Context&) {
    struct Arguments {
        std::string trial;
        std::string root = sweeps::kDefaultRoot;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("show", "Show everything known about one trial");
    command->add_option("trial", arguments->trial, "The trial's name, as in baseline/1, or the start of its hash")
        ->required();
    add_root(*command, arguments->root);
    command->callback([arguments] {
        const results_db::TrialRow trial = open_results(arguments->root).trial(arguments->trial);
        print(reporting::render_trial(trial));
        if (!trial.workdir.empty()) sweeps::below_root(arguments->root, trial.workdir);
    });
}

}  // namespace deft::cli
