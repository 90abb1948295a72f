// deft debug-state: one training step as a file, for checks with other frameworks.

#include "experiments/debug_state.h"

#include <fmt/format.h>

#include <memory>

#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

struct DebugStateArguments {
    SpecArguments spec;
    std::int64_t step = 1;
    int threads = 1;
    std::string root = sweeps::kDefaultRoot;
    std::string out = "debug_state.safetensors";
};

int run_debug_state(const DebugStateArguments& arguments) {
    const sweeps::Trial trial = arguments.spec.first_trial();
    experiments::write_debug_state(trial.config, sweeps::data_folder(arguments.root), arguments.step, arguments.threads,
                                   arguments.out);
    print(fmt::format("step {} of {}: {}", arguments.step, trial.name(), arguments.out));
    return kExitOk;
}

}  // namespace

void add_debug_state(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<DebugStateArguments>();
    CLI::App* command =
        app.add_subcommand("debug-state", "Write one training step of the first chosen trial as safetensors");
    arguments->spec.add_to(*command);
    command->add_option("--step", arguments->step, "The step to write, from 1")
        ->capture_default_str()
        ->check(at_least(1));
    add_threads(*command, arguments->threads);
    add_root(*command, arguments->root, "Folder of tokenized corpora");
    command->add_option("--out", arguments->out, "The file to write")->capture_default_str();
    command->callback([arguments, &context] { context.exit_code = run_debug_state(*arguments); });
}

}  // namespace deft::cli
