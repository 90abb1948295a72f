#include "sweeps/driver/slurm_launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/slurm_commands.h"
#include "sweeps/driver/step_launcher.h"
#include "sweeps/driver/stop_file.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

// The script that sbatch takes: its arguments are the command, so no word of them is read by a shell.
constexpr const char* kScript = "#!/bin/sh\nexec \"$@\"\n";

fs::path job_folder_of(const fs::path& run) {
    return run.parent_path().parent_path() / "jobs" / run.filename();
}

// Names of roots differ, so that the jobs of two never wait for each other.
std::string job_name_of(const fs::path& run) {
    return fmt::format("deft-{}-{}", sha256(run.parent_path().string()).substr(0, 8), run.filename().string());
}

struct Job {
    RunId id = 0;
    fs::path run;
    std::string name;
    std::vector<std::string> submit;
    std::string number;                          // Slurm's; empty: not known yet
    Clock::time_point submitted;                 // last
    std::optional<Clock::time_point> absent;     // since when a whole answer lacks it
    std::optional<Clock::time_point> cancelled;  // by this process
    RunStatus status;
};

class SlurmLauncher final : public Launcher {
 public:
    SlurmLauncher(SlurmSettings settings, SlurmPatience patience)
        : settings_(std::move(settings)), patience_(patience) {}

    RunId start(const LaunchRequest& request) override {
        Job job;
        job.id = ++started_;
        job.run = request.folder;
        job.name = job_name_of(request.folder);
        job.submit = command(request);
        job.status.phase = RunPhase::waiting;
        const fs::path folder = job_folder_of(request.folder);
        make_folder(folder);
        std::error_code ignored;
        fs::remove(folder / "job.jsonl", ignored);  // of a root whose run folders were removed
        write_batch_job(
            folder,
            {program_on_nodes(request.argv.front()), {request.folder}, request.environment, request.grace_seconds});
        write_file_atomically(folder / "job.sh", kScript);
        // The first job shows whether the settings fit. A later refusal, as by a limit of jobs, is that attempt's
        // alone.
        const std::optional<std::string> refusal = submit(job);
        if (refusal && !has_submitted_)
            throw Error(
                ErrorKind::config, fmt::format("sbatch refused the job: {}", *refusal),
                "correct --slurm or [resources.slurm]; `sinfo` lists partitions, `sacctmgr show assoc` accounts",
                "the job was not submitted");
        if (refusal) end_by(job, BatchEnd::refusal, *refusal);
        jobs_.push_back(std::move(job));
        return jobs_.back().id;
    }

    std::vector<std::pair<RunId, RunStatus>> look() override {
        if (jobs_.empty()) return {};
        ask_queue();
        std::vector<std::pair<RunId, RunStatus>> seen;
        std::erase_if(jobs_, [&](Job& job) {
            look_at(job);
            seen.emplace_back(job.id, job.status);
            return job.status.phase == RunPhase::ended;
        });
        return seen;
    }

    void ask_to_end(RunId run) override {
        Job* const job = find(run);
        if (job == nullptr) return;
        write_stop_file(job->run);
        if (!read_claim(job->run)) cancel(*job);
    }

    void end(RunId run) override {
        Job* const job = find(run);
        if (job == nullptr) return;
        write_stop_file(job->run);  // for an attempt that begins although it was cancelled
        cancel(*job);
    }

    const char* name() const override { return "slurm"; }
    std::vector<std::string> command(const LaunchRequest& request) const override {
        return submit_argv(request, settings_);
    }
    bool starts_children() const override { return false; }
    results_db::ProcessIdentity process_of(RunId) const override { return {}; }

 private:
    Job* find(RunId run) {
        const auto found = std::ranges::find(jobs_, run, &Job::id);
        return found == jobs_.end() ? nullptr : &*found;
    }

    // Slurm's words where it refuses the job. A controller that does not answer may have accepted it: the queue shows
    // that by the name, and singleton lets one job of a name run at a time.
    std::optional<std::string> submit(Job& job) {
        job.submitted = Clock::now();
        const SlurmReply reply = ask(job.submit, patience_.submit);
        if (const std::optional<std::string> number = submitted_job(reply)) {
            has_submitted_ = true;
            job.number = *number;
            job.status.reason.clear();
            return std::nullopt;
        }
        if (!may_answer_later(reply) && !reply.is_whole) return reply.complaint;
        job.status.reason = fmt::format("sbatch: {}", reply.complaint);
        return std::nullopt;
    }

    // Where one command was late, the next ones wait: the driver hears signals and reads journals meanwhile.
    SlurmReply ask(const std::vector<std::string>& argv, double seconds) {
        if (late_ && seconds_since(*late_) < patience_.between) {
            SlurmReply reply;
            reply.is_late = true;
            reply.complaint = "Slurm does not answer";
            return reply;
        }
        SlurmReply reply = call_slurm(argv, seconds);
        if (reply.is_late)
            late_ = Clock::now();
        else
            late_.reset();
        return reply;
    }

    // Cancels by name: no number is known while sbatch has not answered, and Slurm may have accepted a job twice.
    void cancel(Job& job) {
        if (!job.cancelled) job.cancelled = Clock::now();
        ask({"scancel", "--name=" + job.name}, patience_.question);
    }

    void ask_queue() {
        is_fresh_ = false;
        if (answered_ && seconds_since(*answered_) < patience_.between) return;
        asked_ = Clock::now();
        const SlurmReply reply = ask(queue_argv(), patience_.question);
        answered_ = Clock::now();
        std::optional<std::vector<QueuedJob>> jobs = queued_jobs(reply);
        is_answered_ = jobs.has_value();
        if (is_answered_)
            queue_ = std::move(*jobs);
        else
            problem_ = reply.complaint.empty() ? "squeue gave a torn answer" : reply.complaint;
        is_fresh_ = is_answered_;
    }

    void look_at(Job& job) {
        RunStatus& status = job.status;
        if (status.phase == RunPhase::ended) return;  // refused at its submission
        if (status.host.empty())
            if (const std::optional<Claim> claim = read_claim(job.run)) status.host = claim->host;
        const auto ends = read_run_ends(job_folder_of(job.run));
        if (const auto end = ends.find(job.run.filename().string()); end != ends.end()) {
            if (end->second == -1)
                end_by(job, BatchEnd::time_limit, "the job was stopped before it began the attempt");
            else
                set_ended(job, end->second);
            return;
        }
        // A driver that ends does not wait for a controller that is down: the stop file ends the attempt later.
        if (job.cancelled && seconds_since(*job.cancelled) > patience_.agreement) {
            end_by(job, BatchEnd::cancellation, "cancelled; Slurm has not confirmed it");
            return;
        }
        const bool is_running = !status.host.empty();
        if (!is_answered_) {
            status.phase = is_running ? RunPhase::running : RunPhase::unknown;
            status.reason = problem_;
            return;
        }
        if (*asked_ < job.submitted) {
            status.phase = is_running ? RunPhase::running : RunPhase::waiting;
            return;
        }
        const auto queued = std::ranges::find(queue_, job.name, &QueuedJob::name);
        if (queued == queue_.end()) {
            look_for_absent(job);
            return;
        }
        job.absent.reset();
        job.number = queued->id;
        status.phase = is_running ? RunPhase::running : RunPhase::waiting;
        status.reason = queued->reason;
        if (job.cancelled && is_fresh_) cancel(job);  // the controller may not have heard it
        if (is_running || !is_permanent(queued->reason)) return;
        cancel(job);
        end_by(job, BatchEnd::refusal, queued->reason);
    }

    // In order of trust: the job's file, accounting, and then time.
    void look_for_absent(Job& job) {
        RunStatus& status = job.status;
        const bool is_running = !status.host.empty();
        status.phase = is_running ? RunPhase::running : RunPhase::unknown;
        status.reason = "it is not in the queue";
        if (job.number.empty() && !job.cancelled) {
            if (seconds_since(job.submitted) < patience_.again) return;
            if (const std::optional<std::string> refusal = submit(job)) end_by(job, BatchEnd::refusal, *refusal);
            return;
        }
        if (!job.absent) job.absent = Clock::now();
        if (is_fresh_ && !job.number.empty()) {
            const SlurmReply reply = ask(accounting_argv(job.number), patience_.question);
            const std::string state = accounted_state(reply, job.number, job.name).value_or("");
            if (const BatchEnd end = batch_end_of(state); end != BatchEnd::none) {
                end_by(job, end, state);
                return;
            }
        }
        if (job.cancelled) {
            end_by(job, BatchEnd::cancellation, "cancelled");
        } else if (seconds_since(*job.absent) > (is_running ? patience_.agreement : patience_.lost)) {
            end_by(job, BatchEnd::loss, status.reason);
        }
    }

    void set_ended(Job& job, int wait_status) {
        job.status.phase = RunPhase::ended;
        job.status.wait_status = wait_status;
    }

    void end_by(Job& job, BatchEnd end, const std::string& words) {
        job.status.phase = RunPhase::ended;
        job.status.wait_status = W_EXITCODE(0, SIGKILL);
        job.status.batch_end = end;
        job.status.batch_words = words;
    }

    SlurmSettings settings_;
    SlurmPatience patience_;
    RunId started_ = 0;
    std::vector<Job> jobs_;
    bool has_submitted_ = false;
    std::optional<Clock::time_point> late_;              // a command, when it had not answered
    std::optional<Clock::time_point> asked_, answered_;  // the queue
    bool is_answered_ = false;                           // then
    bool is_fresh_ = false;                              // it answered in this look
    std::string problem_ = "squeue was not asked yet";
    std::vector<QueuedJob> queue_;
};

// A file's name with its percent signs doubled: sbatch replaces patterns such as "%j".
std::string without_patterns(const std::string& file) {
    std::string text;
    for (const char c : file) text += c == '%' ? "%%" : std::string(1, c);
    return text;
}

// Options of the environment would change jobs, and a job inside a job would take the outer one's for its own.
std::vector<std::string> cleaned_environment() {
    std::vector<std::string> argv = {"env"};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string name(text.substr(0, text.find('=')));
        const bool is_of_job = name.starts_with("SLURM_") || name.starts_with("SBATCH_") || name.starts_with("PMIX_");
        if (is_of_job && name != "SLURM_CONF") argv.insert(argv.end(), {"-u", name});
    }
    return argv;
}

}  // namespace

std::vector<std::string> submit_argv(const LaunchRequest& request, const SlurmSettings& settings) {
    const fs::path folder = job_folder_of(request.folder);
    std::vector<std::string> argv = cleaned_environment();
    argv.insert(argv.end(), {"sbatch", "--parsable", "--no-requeue", "--open-mode=append",
                             "--job-name=" + job_name_of(request.folder), "--dependency=singleton",
                             fmt::format("--signal=B:TERM@{}", signal_seconds(request.grace_seconds)), "--nodes=1",
                             "--ntasks=1", fmt::format("--cpus-per-task={}", request.cores),
                             "--output=" + without_patterns((folder / "log.txt").string())});
    if (request.gpus > 0) argv.push_back(fmt::format("--gpus={}", request.gpus));
    SlurmSettings copy = settings;
    for (const Field& field : fields_of(settings))
        if (const std::string& value = *std::get<std::string*>(field.in(&copy)); !value.empty())
            argv.push_back(fmt::format("--{}={}", field.key, value));
    argv.insert(argv.end(),
                {(folder / "job.sh").string(), program_on_nodes(request.argv.front()), "job", folder.string()});
    return argv;
}

std::unique_ptr<Launcher> make_slurm_launcher(SlurmSettings settings, SlurmPatience patience) {
    return std::make_unique<SlurmLauncher>(std::move(settings), patience);
}

}  // namespace deft::sweeps
