// deft bench startup: how long a trial takes to its first step, and what it costs beside its steps.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/installed_files.h"
#include "base/median.h"
#include "experiments/prepare.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/scratch_folder.h"
#include "sweeps/driver/progress.h"
#include "sweeps/gate/trial_overhead.h"

namespace deft::cli {

namespace {

constexpr double kMostStartSeconds = 0.3, kMostOverhead = 0.02;

struct Arguments {
    SpecArguments spec;
    int threads = 1;
    int rounds = 20;
};

int run(Arguments arguments) {
    if (arguments.spec.file.empty()) arguments.spec.file = installed_file("sweeps/quickstart.toml").string();
    const sweeps::Point point = arguments.spec.first_point();
    const ScratchFolder folder;
    sweeps::OverheadBench bench;
    bench.root = folder.path;
    bench.threads = arguments.threads;
    sweeps::ProgressLine line;
    line.show("tokenising", -1);
    experiments::prepare_data(point.config, sweeps::data_folder(bench.root), [](const std::string&, double) {});
    std::vector<double> starts;
    for (int round = 0; round < arguments.rounds; ++round) {
        line.show("starting trials", static_cast<double>(round) / arguments.rounds);
        starts.push_back(sweeps::seconds_to_first_step(point, bench));
    }
    line.show("a whole trial", -1);
    const sweeps::TrialSeconds trial = sweeps::time_whole_trial(point, bench);
    line.clear();

    using reporting::small_seconds;
    reporting::Table table;
    table.caption = fmt::format("{} of {}, {} thread(s): its process, with a tokenised corpus", point.name(),
                                arguments.spec.file, arguments.threads);
    table.columns = {
        {"to the first step, median"}, {"worst"}, {"process"}, {"steps"}, {"scoring"}, {"all else"}, {"of steps"},
        {"journal and leases"}};
    table.rows = {{small_seconds(median(starts)), small_seconds(*std::max_element(starts.begin(), starts.end())),
                   small_seconds(trial.process), small_seconds(trial.steps), small_seconds(trial.evaluation),
                   small_seconds(trial.overhead()), fmt::format("{:.2f}%", 100 * trial.overhead() / trial.steps),
                   small_seconds(trial.training - trial.steps)}};
    table.notes.push_back(
        fmt::format("The first step is {} starts until the journal has its line. All else: start-up, "
                    "journal, checkpoint and end, of one whole trial. Targets: {} and {:.0f}%.",
                    arguments.rounds, small_seconds(kMostStartSeconds), 100 * kMostOverhead));
    print(table);
    return kExitOk;
}

}  // namespace

void add_bench_startup(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = bench.add_subcommand(
        "startup", "A trial's process: time to its first step, and what it costs beside its steps");
    arguments->spec.add_to(*command, false);
    add_threads(*command, arguments->threads);
    add_number(*command, "--rounds", arguments->rounds, "Trials to start", 1, 1000);
    command->callback([arguments, &context] { context.exit_code = run(*arguments); });
}

}  // namespace deft::cli
