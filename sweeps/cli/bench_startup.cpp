// deft bench startup: how long a trial takes to its first step, and what it costs beside its steps.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
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
#include "sweeps/cli/contest.h"
#include "sweeps/driver/run_folder.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

constexpr double kMostStartSeconds = 0.3, kMostOverhead = 0.02;

// A trial under way. It is killed when this goes out of scope.
class TimedTrial {
 public:
    // Starts it in a new run folder, so that it has no checkpoint to go on from.
    TimedTrial(const sweeps::Trial& trial, const fs::path& root, int threads) {
        std::int64_t number = 1;
        folder_ = sweeps::free_run_folder(root, trial.config_hash, number);
        make_folder(folder_);
        const experiments::TrialPlaces places = {folder_, sweeps::data_folder(root), folder_ / "checkpoints", false};
        sweeps::write_trial_file(trial, "overhead", {}, Json::object(), places, {}, {engine::Device::cpu, threads});
        start_ = Clock::now();
        pid_ = start_process({"/proc/self/exe", "trial", folder_.string()}, folder_ / "log.txt");
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
    fs::path folder_;
    Clock::time_point start_;
    pid_t pid_ = -1;
    int status_ = 0;
    bool has_ended_ = false;
};

// Seconds from starting the process to the journal's line of the first step; the trial is ended then.
// Errors: io, for a trial that ends before.
double seconds_to_first_step(const sweeps::Trial& trial, const fs::path& root, int threads) {
    sweeps::Trial every_step = trial;
    every_step.config.log_every = 1;
    TimedTrial timed(every_step, root, threads);
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
TrialSeconds time_whole_trial(const sweeps::Trial& trial, const fs::path& root, int threads) {
    TimedTrial timed(trial, root, threads);
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

Measured time_startup(const BenchStartupArguments& arguments, const sweeps::ShowProgress& progress) {
    SpecArguments spec = arguments.spec;
    if (spec.file.empty()) spec.file = installed_file("sweeps/quickstart.toml").string();
    const sweeps::Trial trial = spec.first_trial();
    const ScratchFolder folder;
    progress("tokenising", -1);
    experiments::prepare_data(trial.config, sweeps::data_folder(folder.path), [](const std::string&, double) {});
    std::vector<double> starts;
    for (int round = 0; round < arguments.rounds; ++round) {
        progress("starting trials", static_cast<double>(round) / arguments.rounds);
        starts.push_back(seconds_to_first_step(trial, folder.path, arguments.threads));
    }
    progress("a complete trial", -1);
    const TrialSeconds spent = time_whole_trial(trial, folder.path, arguments.threads);

    using reporting::small_seconds;
    reporting::Table table;
    table.caption = fmt::format("{} of {}, {} thread(s): its process, with a tokenised corpus", trial.name(), spec.file,
                                arguments.threads);
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
    return {{table}};
}

}  // namespace

Run bench_startup(CLI::App& command) {
    auto arguments = std::make_shared<BenchStartupArguments>();
    arguments->spec.add_to(command, false);
    add_threads(command, arguments->threads);
    add_number(command, "--rounds", arguments->rounds, "Trials to start", 1, 1000);
    return contest(arguments, time_startup);
}

}  // namespace deft::cli
