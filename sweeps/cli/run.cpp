// deft run: trains what a sweep has left to train, and prints its table.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/library_error.h"
#include "base/stopwatch.h"
#include "engine/comm/launch.h"
#include "reporting/analysis/trace/origins.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/find_table.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/cli/run_arguments.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/multi_process.h"
#include "sweeps/driver/rank_hosts.h"
#include "sweeps/driver/search_rates.h"
#include "sweeps/driver/shared_locks.h"
#include "sweeps/driver/slots.h"

namespace deft::cli {

namespace {

std::string fill_with(RunArguments arguments) {
    arguments.spec.only.clear();
    arguments.rerun_if = kRerunAll;  // a report names the kinds itself
    arguments.launcher = "auto";     // where it is repeated is for its reader to say
    arguments.slurm.clear();
    arguments.ranks_per_node = 0;
    arguments.hostfile.clear();
    arguments.agent.clear();
    return arguments.continue_with();
}

// A report names the recipe and the seeds itself where it says how to repeat a row, so they are left out here.
std::string points_of(const RunArguments& arguments) {
    SpecArguments spec = arguments.spec;
    spec.only.clear();
    spec.seeds.clear();
    return spec.text();
}

// Writes the sweep's page. The results are stored already, so a page that cannot be written deserves only a warning.
std::filesystem::path write_page(const std::string& root, const reporting::ReportData& data) {
    try {
        return write_report_page(root, data);
    } catch (const std::exception& error) {
        print_note("warning: no report was written: " + message_for_user(error));
        return {};
    }
}

// Writes the sweep's page again every few seconds, for at most a fiftieth of the time.
class RunningPage {
 public:
    RunningPage(std::string sweep, std::filesystem::path root) : sweep_(std::move(sweep)), root_(std::move(root)) {}

    void write() {
        if (seconds_since(written_) < wait_seconds_) return;
        const Clock::time_point start = Clock::now();
        try {
            const results_db::Reader reader(sweeps::database_file(root_));
            write_report_page(root_, report_data(reader, find_sweep(reader, sweep_, reporting::unknown_inputs()),
                                                 CurvesShown::on_page));
        } catch (const std::exception&) {
            // The page at the run's end says why it cannot be written.
        }
        written_ = Clock::now();
        wait_seconds_ = std::max(kPageSeconds, 50 * seconds_since(start));
    }

 private:
    static constexpr double kPageSeconds = 5;
    std::string sweep_;
    std::filesystem::path root_;
    Clock::time_point written_ = Clock::now();
    double wait_seconds_ = kPageSeconds;
};

// Writes the page and prints the first screen, or all tables.
void show_results(const sweeps::Spec& spec, const sweeps::DriverOptions& options, bool full) {
    const results_db::Reader reader(sweeps::database_file(options.root));
    const reporting::ReportData data =
        report_data(reader, find_sweep(reader, spec.name, inputs_below(options.root)), CurvesShown::on_page);
    const std::filesystem::path page = write_page(options.root.string(), data);
    if (full)
        print(render_report(data, "term", output_width()));
    else
        print_screen(render_first_screen(data, page, root_option(options.root), screen_width()));
}

// The given arguments, completed by those of the table's sweep, where its file has not changed.
RunArguments for_table(const std::string& table, const RunArguments& given) {
    RunArguments run = given;
    const results_db::Reader reader = open_results(given.root);
    const reporting::Results sweep = find_table(reader, table, reporting::unknown_inputs());
    const RunArguments stored = stored_run(sweep);
    unchanged_spec(stored, sweep);
    run.spec = stored.spec;
    run.spec.only = given.spec.only;
    if (!given.spec.seeds.empty()) run.spec.seeds = given.spec.seeds;
    if (given.slots.empty()) run.slots = stored.slots;
    if (given.threads == 0) run.threads = stored.threads;
    if (given.ranks == 0) run.ranks = stored.ranks;
    return run;
}

// Where the arguments or the file name a hostfile: the hosts of each trial's ranks. Slurm that the command asks for
// goes before the file's.
void use_hosts(const RunArguments& arguments, const sweeps::Spec& spec, sweeps::SlotRequest& request,
               sweeps::DriverOptions& options) {
    const std::string hostfile = arguments.hostfile.empty() ? spec.hostfile : arguments.hostfile;
    if (hostfile.empty() && !arguments.agent.empty())
        throw Error(ErrorKind::usage, "--agent reaches the hosts of a hostfile, and none is given",
                    "add --hostfile, or leave it out", "nothing was started");
    const bool asks_for_slurm = arguments.launcher == "steps" || arguments.launcher == "slurm";
    if (asks_for_slurm && !arguments.hostfile.empty())
        throw Error(
            ErrorKind::usage,
            fmt::format("a hostfile is for ranks without Slurm, and --launcher {} asks for Slurm", arguments.launcher),
            "leave --launcher or --hostfile out", "nothing was started");
    if (hostfile.empty() || asks_for_slurm) return;
    sweeps::require_request_of_hosts(request);
    request.host_slots = 0;
    for (const sweeps::HostLine& host : sweeps::hosts_for_ranks(hostfile, request)) {
        options.hosts.names.push_back(host.name);
        if (host.slots == 0) continue;
        request.host_slots = *request.host_slots == 0 ? host.slots : std::min(*request.host_slots, host.slots);
    }
    options.hosts.ranks_on_each = request.ranks_of_node();
    options.hosts.agent = sweeps::agent_command(arguments.agent.empty() ? spec.agent : arguments.agent);
}

// The service that --mps asks for, while the run lasts.
std::unique_ptr<sweeps::MultiProcessService> service_for_cards(const RunArguments& arguments,
                                                               const sweeps::SlotRequest& request,
                                                               const sweeps::DriverOptions& options) {
    if (!arguments.mps) return nullptr;
    if (request.per_gpu == 1)
        throw Error(ErrorKind::usage, "--mps is for trials that share a card, and no card is shared",
                    "put several trials on a card, as in --slots gpu:1/4 or gpu:1/auto, or leave --mps out",
                    "nothing was started");
    if (options.dry_run) return nullptr;
    auto service = std::make_unique<sweeps::MultiProcessService>(options.root / "mps");
    if (!service->problem().empty())
        print_note(
            fmt::format("warning: CUDA's multi-process service does not run, and trials take turns on a card: {}",
                        service->problem()));
    return service;
}

int run_recipes(const RunArguments& arguments, bool full) {
    engine::require_alone(engine::launch_of_this_process(), "driver of the sweep");
    // Results are stored whether or not somebody still reads along.
    std::signal(SIGPIPE, SIG_IGN);
    sweeps::DriverOptions options;
    options.progress = sweeps::parse_progress_mode(arguments.progress);
    const sweeps::Spec file_spec = arguments.spec.load();
    options.root = arguments.root;
    if (const std::string warning = sweeps::warning_of_locks(options.root); !warning.empty())
        print_note("warning: " + warning);
    sweeps::SlotRequest request = sweeps::parse_slots(arguments.slots.empty() ? file_spec.slots : arguments.slots);
    request.ranks = arguments.ranks > 0 ? arguments.ranks : file_spec.ranks;
    request.ranks_per_node = arguments.ranks_per_node > 0 ? arguments.ranks_per_node : file_spec.ranks_per_node;
    if (request.ranks_per_node > 0) sweeps::require_ranks_per_node(request.ranks, request.ranks_per_node);
    sweeps::SlurmSettings slurm = file_spec.slurm;
    sweeps::apply_slurm_option(arguments.slurm, slurm);
    if (!arguments.slurm.empty() && arguments.launcher != "slurm")
        throw Error(ErrorKind::usage,
                    fmt::format("--slurm is for jobs, and --launcher {} makes none", arguments.launcher),
                    "add --launcher slurm, or leave it out", "nothing was started");
    use_hosts(arguments, file_spec, request, options);
    options.launcher = sweeps::choose_launcher(request.host_slots ? "local" : arguments.launcher, slurm);
    if (!options.launcher.warning.empty()) print_note("warning: " + options.launcher.warning);
    if (options.launcher.steps_of) request.node_cores = options.launcher.steps_of->node_cores;
    request.is_queued = options.launcher.jobs.has_value();
    if (request.is_queued) {
        sweeps::require_shape(slurm, request);
        request.trials_of_job = static_cast<int>(slurm.at_once);
    }
    if (options.launcher.steps_of || request.is_queued || request.host_slots) {
        options.root = std::filesystem::absolute(options.root);  // as another machine finds it
    }
    options.only = arguments.spec.only;
    options.fail_fast = arguments.fail_fast;
    options.dry_run = arguments.dry_run;
    options.asks_for_mps = arguments.mps;
    options.retrain = arguments.retrain;
    options.rerun_if = sweeps::parse_rerun_if(arguments.rerun_if);
    options.continue_with = arguments.continue_with();
    options.cancel_with = "deft cancel " + reporting::shell_word(file_spec.name) + root_option(arguments.root);
    options.fill_with = fill_with(arguments);
    options.points = points_of(arguments);
    if (request.is_queued)
        for (const sweeps::Trial& trial : sweeps::expand(file_spec))
            sweeps::require_time(slurm, trial.config.checkpoint.grace_seconds);
    const auto service = service_for_cards(arguments, request, options);
    const sweeps::Search search = sweeps::search_rates(file_spec, request, arguments.threads, options);
    if (!search.is_whole) return search.summary.exit_code;
    const sweeps::Spec& spec = search.spec;
    const std::vector<sweeps::Trial> trials = sweeps::with_search(spec, sweeps::expand(spec));
    options.threads = sweeps::threads_for(arguments.threads > 0 ? arguments.threads : spec.threads, request, trials);
    options.slots = sweeps::make_slots(request, options.threads, trials);
    if (!request.host_slots) options.slots_note = sweeps::unused_gpus(request);
    RunningPage page(spec.name, options.root);
    options.while_running = [&] { page.write(); };
    const sweeps::RunSummary summary = sweeps::run_sweep(spec, trials, options);
    if (arguments.dry_run) return summary.exit_code;

    if (summary.ok + summary.already_done > 0) show_results(spec, options, full);
    return summary.exit_code;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
    struct Arguments {
        RunArguments run;
        std::string table;
        bool full = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("run", "Train and score what a sweep has left, and print its table");
    arguments->run.add_to(*command, false);
    command->add_option(
        "--for-table", arguments->table,
        std::string("In place of the sweep file: run the trials that a table of the results lacks. ") + kTableHelp);
    command->add_flag("--full", arguments->full,
                      "End with all tables, notes and provenance in place of the first screen");
    command->callback([arguments, command, &context] {
        const bool is_for_table = command->count("--for-table") > 0;
        if (is_for_table == (command->count("sweep") > 0))
            throw Error(ErrorKind::usage,
                        is_for_table ? "a sweep file and --for-table cannot be combined" : "no sweep to run",
                        is_for_table ? "give only one of them"
                                     : "name a sweep file, or a table of the results: --for-table TABLE");
        for (const char* option : {"--scale", "--set"})
            if (is_for_table && command->count(option) > 0)
                throw Error(ErrorKind::usage,
                            fmt::format("{} would make another table than the one of --for-table", option),
                            "leave it out, or run the sweep's file with it");
        context.exit_code =
            run_recipes(is_for_table ? for_table(arguments->table, arguments->run) : arguments->run, arguments->full);
    });
}

}  // namespace deft::cli
