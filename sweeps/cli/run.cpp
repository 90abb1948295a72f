// deft run: trains what a sweep has left to train, and prints its table.

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>

#include "reporting/origins.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/slots.h"

namespace deft::cli {

namespace {

constexpr const char* kRerunAll = "code,data,eval";

struct RunArguments {
    SpecArguments spec;
    std::string root = sweeps::kDefaultRoot;
    std::string slots;
    int threads = 0, ranks = 0;
    std::string progress = "auto";
    bool dry_run = false;
    bool fail_fast = false;
    bool retrain = false;
    std::string rerun_if = kRerunAll;
};

std::string continue_with(const RunArguments& arguments) {
    std::string line = "deft run " + arguments.spec.text();
    if (arguments.root != sweeps::kDefaultRoot) line += " --root " + reporting::shell_word(arguments.root);
    if (!arguments.slots.empty()) line += " --slots " + reporting::shell_word(arguments.slots);
    if (arguments.threads > 0) line += " --threads " + std::to_string(arguments.threads);
    if (arguments.ranks > 0) line += " --ranks " + std::to_string(arguments.ranks);
    if (arguments.rerun_if != kRerunAll) line += " --rerun-if " + reporting::shell_word(arguments.rerun_if);
    return line;
}

std::string fill_with(RunArguments arguments) {
    arguments.spec.only.clear();
    arguments.rerun_if = kRerunAll;  // a report names the kinds itself
    return continue_with(arguments);
}

// A report names the case and the seeds itself where it says how to repeat a row, so they are left out here.
std::string points_of(const RunArguments& arguments) {
    SpecArguments spec = arguments.spec;
    spec.only.clear();
    spec.seeds.clear();
    return spec.text();
}

// The results are stored already, so a page that cannot be written is worth no more than a warning.
void write_page(const std::string& root, const reporting::ReportData& data) {
    try {
        std::fprintf(stderr, "report: %s\n", write_report_page(root, data).c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "deft: warning: no report was written: %s\n", error.what());
    }
}

// Prints the table and writes the page.
void show_results(const sweeps::Spec& spec, const sweeps::DriverOptions& options) {
    const results_db::Reader reader(sweeps::database_file(options.root));
    const reporting::ReportData data = report_data(reader, find_checked_sweep(reader, spec.name, options.root), true);
    print(render_report(data, "term", output_width()));
    write_page(options.root, data);
}

int run_cases(const RunArguments& arguments) {
    // Results are stored whether or not somebody still reads along.
    std::signal(SIGPIPE, SIG_IGN);
    sweeps::DriverOptions options;
    options.progress = sweeps::parse_progress_mode(arguments.progress);
    const sweeps::Spec spec = arguments.spec.load();
    options.root = arguments.root;
    sweeps::SlotRequest request = sweeps::parse_slots(arguments.slots.empty() ? spec.slots : arguments.slots);
    request.ranks = arguments.ranks > 0 ? arguments.ranks : spec.ranks;
    options.only = arguments.spec.only;
    options.fail_fast = arguments.fail_fast;
    options.dry_run = arguments.dry_run;
    options.retrain = arguments.retrain;
    options.rerun_if = sweeps::parse_rerun_if(arguments.rerun_if);
    options.continue_with = continue_with(arguments);
    options.fill_with = fill_with(arguments);
    options.points = points_of(arguments);
    const std::vector<sweeps::Point> points = sweeps::expand(spec);
    options.threads = sweeps::threads_for(arguments.threads > 0 ? arguments.threads : spec.threads, request, points);
    options.slots = sweeps::make_slots(request, options.threads);
    options.slots_note = sweeps::unused_gpus(request);
    const sweeps::RunSummary summary = sweeps::run_sweep(spec, points, options);
    if (arguments.dry_run) return summary.exit_code;

    if (summary.ok + summary.already_done > 0) show_results(spec, options);
    std::fprintf(stderr, "results: %s\n", sweeps::database_file(options.root).c_str());
    return summary.exit_code;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Train and score what a sweep has left, and print its table");
    arguments->spec.add_to(*command);
    add_root(*command, arguments->root, "Where results go");
    command->add_option("--slots", arguments->slots,
                        "Trials at once: auto, or as in cpu:2, gpu:1, gpu:1/2 (two on a card)");
    add_threads(*command, arguments->threads,
                "Threads of each trial; chosen by the size of the models where neither this nor the sweep says");
    command->add_option("--ranks", arguments->ranks, "Processes that train each trial together, in place of the sweep's ranks")
        ->check(CLI::Range(1, sweeps::kMostRanks));
    command->add_option("--progress", arguments->progress, "How to show progress: auto, live, plain or none")
        ->capture_default_str();
    command->add_flag("--retrain", arguments->retrain,
                      "Train again what is to be scored and whose checkpoint is gone");
    command->add_option("--rerun-if", arguments->rerun_if,
                        "Which results are made anew that are stale: by code (another result epoch) or data the training "
                        "and its scores, by eval (a task's file or records, or the scoring) the scores; never: none, and "
                        "only what was never measured is")
        ->capture_default_str();
    command->add_flag("--dry-run", arguments->dry_run, "Say what would be trained, and train nothing");
    command->add_flag("--fail-fast", arguments->fail_fast, "Start no trial after the first that failed");
    command->callback([arguments, &context] { context.exit_code = run_cases(*arguments); });
}

}  // namespace deft::cli
