// deft bench startup: how long a trial takes to its first step, and what it costs beside its steps.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/median.h"
#include "base/process.h"
#include "base/scratch_folder.h"
#include "base/stopwatch.h"
#include "experiments/prepare.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/run_folder.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

constexpr double kMostStartSeconds = 0.3, kMostOverhead = 0.02;

// Where the trials run: everything in a folder of their own, the corpus tokenised before.
struct OverheadBench {
    std::filesystem::path root;
    std::filesystem::path program = "/proc/self/exe";
    int threads = 1;
};

// A trial under way. It is killed when this goes out of scope.
class TimedTrial {
 public:
    // Starts it in a new run folder, so that it has no checkpoint to go on from.
    TimedTrial(const sweeps::Trial& trial, const OverheadBench& bench) : folder_(new_folder(bench.root)) {
        const experiments::TrialPlaces places = {folder_, sweeps::data_folder(bench.root), folder_ / "checkpoints",
                                                 false};
        sweeps::write_trial_file(trial, "overhead", {}, Json::object(), places, {},
                                 {engine::Device::cpu, bench.threads});
        start_ = Clock::now();
        pid_ = start_process({bench.program.string(), "trial", folder_.string()}, folder_ / "log.txt");
    }
    ~TimedTrial() {
        if (has_ended_) return;
        ::kill(-pid_, SIGKILL);
        wait(0);
    }
    TimedTrial(const TimedTrial&) = delete;
    TimedTrial& operator=(const TimedTrial&) = delete;

    // Waits as waitpid does with these options. True once the trial has ended.
    bool wait(int options) {
        while (!has_ended_) {
            const pid_t ended = ::waitpid(pid_, &status_, options);
            if (ended < 0 && errno == EINTR) continue;
            if (ended == 0) return false;
            has_ended_ = true;
        }
        return true;
    }
    double seconds() const { return seconds_since(start_); }
    bool ended_well() const { return has_ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
    sweeps::JournalSummary journal() const { return sweeps::read_journal(folder_ / "journal.jsonl"); }
    bool has_journal() const { return fs::exists(folder_ / "journal.jsonl"); }
    Error failure() const {
        std::string what = "the trial ended early";
        for (const std::string& line : sweeps::last_lines(folder_ / "log.txt", 1)) what += ": " + line;
        return Error(ErrorKind::io, what, "run the sweep itself, which says more: deft run");
    }

 private:
    static fs::path new_folder(const fs::path& root) {
        for (int number = 1;; ++number) {
            const fs::path folder = root / "runs" / fmt::format("overhead.{}", number);
            if (fs::exists(folder)) continue;
            make_folder(folder);
            return folder;
        }
    }

    fs::path folder_;
    Clock::time_point start_;
    pid_t pid_ = -1;
    int status_ = 0;
    bool has_ended_ = false;
};

// Seconds from starting the process to the journal's line of the first step; the trial is ended then.
// Errors: io, for a trial that ends before.
double seconds_to_first_step(const sweeps::Trial& trial, const OverheadBench& bench) {
    sweeps::Trial every_step = trial;
    every_step.config.log_every = 1;
    TimedTrial timed(every_step, bench);
    while (true) {
        const bool over = timed.wait(WNOHANG);
        const double seconds = timed.seconds();
        if (timed.has_journal() && timed.journal().last_point) return seconds;
        if (over) throw timed.failure();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Seconds of one whole training.
struct TrialSeconds {
    double process = 0;  // from its start to its end
    double steps = 0, training = 0;

    // No steps: start-up, journal, checkpoint, end.
    double overhead() const { return process - steps; }
};
// Errors: io, for a trial that does not end well.
TrialSeconds time_whole_trial(const sweeps::Trial& trial, const OverheadBench& bench) {
    TimedTrial timed(trial, bench);
    timed.wait(0);
    const double process = timed.seconds();
    const sweeps::JournalSummary journal = timed.journal();
    if (!timed.ended_well() || !journal.ended) throw timed.failure();
    return {process, journal.ended->step_seconds, journal.ended->train_seconds};
}

struct BenchStartupArguments {
    SpecArguments spec;
    int threads = 1;
    int rounds = 20;
};

int run_bench_startup(BenchStartupArguments arguments) {
    if (arguments.spec.file.empty()) arguments.spec.file = installed_file("sweeps/quickstart.toml").string();
    const sweeps::Trial trial = arguments.spec.first_trial();
    const ScratchFolder folder;
    OverheadBench bench;
    bench.root = folder.path;
    bench.threads = arguments.threads;
    sweeps::ProgressLine line;
    line.show("tokenising", -1);
    experiments::prepare_data(trial.config, sweeps::data_folder(bench.root), [](const std::string&, double) {});
    std::vector<double> starts;
    for (int round = 0; round < arguments.rounds; ++round) {
        line.show("starting trials", static_cast<double>(round) / arguments.rounds);
        starts.push_back(seconds_to_first_step(trial, bench));
    }
    line.show("a complete trial", -1);
    const TrialSeconds spent = time_whole_trial(trial, bench);
    line.clear();

    using reporting::small_seconds;
    reporting::Table table;
    table.caption = fmt::format("{} of {}, {} thread(s): its process, with a tokenised corpus", trial.name(),
                                arguments.spec.file, arguments.threads);
    table.columns = {{"to the first step, median"}, {"worst"}, {"process"}, {"steps"}, {"all else"}, {"of steps"},
                     {"journal and leases"}};
    table.rows = {{small_seconds(median(starts)), small_seconds(*std::max_element(starts.begin(), starts.end())),
                   small_seconds(spent.process), small_seconds(spent.steps), small_seconds(spent.overhead()),
                   fmt::format("{:.2f}%", 100 * spent.overhead() / spent.steps),
                   small_seconds(spent.training - spent.steps)}};
    table.notes.push_back(
        fmt::format("The first step is {} starts until the journal has its line. All else: start-up, "
                    "journal, checkpoint and end, of one complete trial. Targets: {} and {:.0f}%.",
                    arguments.rounds, small_seconds(kMostStartSeconds), 100 * kMostOverhead));
    print(table);
    return kExitOk;
}

}  // namespace

void add_bench_startup(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchStartupArguments>();
    CLI::App* command = bench.add_subcommand(
        "startup", "A trial's process: time to its first step, and what it costs beside its steps");
    arguments->spec.add_to(*command, false);
    add_threads(*command, arguments->threads);
    add_number(*command, "--rounds", arguments->rounds, "Trials to start", 1, 1000);
    command->callback([arguments, &context] { context.exit_code = run_bench_startup(*arguments); });
}

}  // namespace deft::cli
