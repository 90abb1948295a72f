#include "sweeps/driver/job_runner.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/job_account.h"
#include "sweeps/driver/local_launcher.h"
#include "sweeps/driver/rank_cards.h"
#include "sweeps/driver/slurm_allocation.h"
#include "sweeps/driver/step_launcher.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr int kLookMs = 200;

// On this machine, or as steps on the nodes of the job.
std::unique_ptr<Launcher> launcher_of(const BatchJob& job) {
    if (job.nodes == 1) return make_local_launcher();
    const std::optional<SlurmAllocation> allocation = slurm_allocation();
    if (!allocation)
        throw Error(ErrorKind::config, "Slurm's variables do not state the nodes of this job",
                    "leave Slurm's variables to the processes of the job");
    return make_step_launcher(*allocation);
}

class JobRunner {
 public:
    JobRunner(fs::path folder, const SignalWatch& signals)
        : folder_(std::move(folder)),
          job_(read_batch_job(folder_)),
          launcher_(launcher_of(job_)),
          signals_(signals),
          is_share_taken_(static_cast<std::size_t>(std::max(1, job_.at_once)), false) {}

    void run() {
        note_job_begin(folder_, job_);
        auto next = job_.runs.begin();
        while (true) {
            while (next != job_.runs.end() && has_free_share()) begin(*next++);
            if (running_.empty() && next == job_.runs.end()) break;
            if (!take_ended()) {
                end_overdue();
                signals_.sleep_ms(kLookMs);
            }
        }
        note_job_end(folder_);
    }

 private:
    struct Running {
        fs::path folder;
        RunId id = 0;
        std::size_t share = 0;
        long memory_kills = 0;  // when it began
        Clock::time_point began = Clock::now();
        std::optional<Clock::time_point> asked;  // to stop
        RunEnd end;
    };

    bool has_free_share() const { return std::ranges::find(is_share_taken_, false) != is_share_taken_.end(); }

    // Nothing where an earlier start of this job has begun it.
    void begin(const fs::path& folder) {
        if (read_claim(folder)) return;
        if (signals_.terminated() || has_stop_file(folder)) {
            note_run_end(folder_, folder, {0, RunEndCause::not_begun});
            return;
        }
        Running run;
        run.folder = folder;
        run.share = static_cast<std::size_t>(std::ranges::find(is_share_taken_, false) - is_share_taken_.begin());
        run.memory_kills = memory_kills();
        try {
            run.id = launcher_->start(request_of(run));
        } catch (const Error& error) {
            // The others of the job go on.
            fmt::print(stderr, "{}: {}\n", folder.string(), error.what());
            note_run_end(folder_, folder, {W_EXITCODE(kExitFailed, 0), RunEndCause::none});
            return;
        }
        is_share_taken_[run.share] = true;
        running_.push_back(std::move(run));
    }

    LaunchRequest request_of(const Running& run) const {
        LaunchRequest request;
        request.folder = run.folder;
        request.argv = {job_.program, "trial", run.folder.string()};
        request.environment = job_.environment;
        request.cores = job_.share.cores;
        request.gpus = job_.share.gpus;
        request.grace_seconds = job_.grace_seconds;
        request.nodes = job_.share.nodes;
        request.ranks = job_.share.ranks;
        // Slurm gives each step cards of its own; on one node, all attempts see those of the job.
        const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
        if (visible != nullptr && job_.nodes == 1 && job_.at_once > 1 && request.gpus > 0)
            request.environment.push_back("CUDA_VISIBLE_DEVICES=" + cards_of_share(visible, run.share, request.gpus));
        return request;
    }

    // False where none has ended.
    bool take_ended() {
        const std::size_t before = running_.size();
        for (const auto& [id, status] : launcher_->look()) {
            const auto run = std::ranges::find(running_, id, &Running::id);
            if (run == running_.end() || status.phase != RunPhase::ended) continue;
            run->end.wait_status = status.wait_status;
            const bool is_killed = WIFSIGNALED(status.wait_status) && WTERMSIG(status.wait_status) == SIGKILL;
            const bool is_ours = run->end.cause == RunEndCause::kill_file || run->end.cause == RunEndCause::overdue;
            if (const long kills = memory_kills(); is_killed && !is_ours && kills > run->memory_kills) {
                run->end.cause = RunEndCause::out_of_memory;
                // The others of the job were not meant.
                for (Running& other : running_) other.memory_kills = kills;
            }
            note_run_end(folder_, run->folder, run->end, seconds_since(run->began));
            is_share_taken_[run->share] = false;
            running_.erase(run);
        }
        return running_.size() < before;
    }

    void end_overdue() {
        for (Running& run : running_) {
            if (signals_.terminated() && !run.asked) {
                launcher_->ask_to_end(run.id);
                run.asked = Clock::now();
                run.end.cause = RunEndCause::signal;
            }
            const bool is_overdue = run.asked && seconds_since(*run.asked) > job_.grace_seconds;
            if (is_overdue) run.end.cause = RunEndCause::overdue;
            if (has_kill_file(run.folder)) run.end.cause = RunEndCause::kill_file;
            if (is_overdue || run.end.cause == RunEndCause::kill_file) launcher_->end(run.id);
        }
    }

    fs::path folder_;
    BatchJob job_;
    std::unique_ptr<Launcher> launcher_;
    const SignalWatch& signals_;
    std::vector<bool> is_share_taken_;
    std::vector<Running> running_;
};

}  // namespace

void run_batch_job(const fs::path& folder, const SignalWatch& signals) {
    JobRunner(folder, signals).run();
}

}  // namespace deft::sweeps
