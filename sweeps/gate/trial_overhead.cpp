#include "sweeps/gate/trial_overhead.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

// A trial under way, killed where it is left.
class TimedTrial {
 public:
    // In a new run folder, from its first step on.
    TimedTrial(const Point& point, const OverheadBench& bench) : folder_(new_folder(bench.root)) {
        const experiments::TrialPlaces places = {folder_, data_folder(bench.root), folder_ / "checkpoints", false};
        write_trial_file(point, "overhead", {}, Json::object(), places, {engine::Device::cpu, bench.threads});
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

    // As WNOHANG or 0 say; true where it has ended.
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
    JournalSummary journal() const { return read_journal(folder_ / "journal.jsonl"); }
    bool has_journal() const { return fs::exists(folder_ / "journal.jsonl"); }
    Error failure() const {
        std::string what = "the trial ended early";
        for (const std::string& line : last_lines(folder_ / "log.txt", 1)) what += ": " + line;
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

}  // namespace

double seconds_to_first_step(const Point& point, const OverheadBench& bench) {
    Point every_step = point;
    every_step.config.log_every = 1;
    TimedTrial trial(every_step, bench);
    while (true) {
        const bool over = trial.wait(WNOHANG);
        const double seconds = trial.seconds();
        if (trial.has_journal() && trial.journal().last_point) return seconds;
        if (over) throw trial.failure();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TrialSeconds time_whole_trial(const Point& point, const OverheadBench& bench) {
    TimedTrial trial(point, bench);
    trial.wait(0);
    const double process = trial.seconds();
    const JournalSummary journal = trial.journal();
    if (!trial.ended_well() || !journal.ended) throw trial.failure();
    return {process, journal.ended->step_seconds, journal.ended->train_seconds, journal.ended->eval_seconds};
}

}  // namespace deft::sweeps
