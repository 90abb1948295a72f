#include "sweeps/driver/slurm_launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/stopwatch.h"
#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/slurm_commands.h"
#include "sweeps/driver/slurm_job.h"
#include "sweeps/driver/step_log.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

struct Run {
    RunId id = 0;
    fs::path folder;
    bool is_asked = false;                   // to end, by this process
    std::optional<Clock::time_point> ended;  // when its end in the job's file was first seen
    RunStatus status;

    bool has_ended() const { return status.phase == RunPhase::ended; }
    bool is_running() const { return !status.host.empty(); }
};

struct Job {
    fs::path folder;
    std::string name;                 // of the array, where it is a task of one
    std::optional<int> task;          // its number there
    std::vector<Run> runs;            // that have not been reported as ended
    std::vector<std::string> submit;  // empty: an earlier driver submitted it
    std::string number;               // Slurm's; empty: not known yet
    int nodes = 1;
    std::string problem;                         // of its submission; may be empty
    Clock::time_point submitted;                 // last
    std::string end_state;                       // as Slurm names it; empty: it has not ended, or that is not known
    std::optional<Clock::time_point> absent;     // since when a whole answer lacks it
    std::optional<Clock::time_point> cancelled;  // by this process
};

// Attempts gathered for a job, which is not submitted yet.
struct Gathered {
    RunId id = 0;
    LaunchRequest request;
};

class SlurmLauncher final : public Launcher {
 public:
    SlurmLauncher(SlurmSettings settings, SlurmPatience patience)
        : settings_(std::move(settings)), patience_(patience) {}

    RunId start(const LaunchRequest& request) override {
        if (!std::exchange(is_tested_, true)) test_shape(request);
        gathered_.push_back({++started_, request});
        return started_;
    }

    void submit(bool leaves) override {
        if (leaves || may_submit()) submit_gathered(true);
    }

    std::optional<RunId> adopt(const fs::path& run_folder) override {
        if (!known_jobs_) known_jobs_ = jobs_by_run(run_folder.parent_path().parent_path());
        const auto found = known_jobs_->find(run_folder.filename().string());
        if (found == known_jobs_->end() || !may_be_submitted(found->second)) return std::nullopt;
        auto job = std::ranges::find(jobs_, found->second, &Job::folder);
        if (job == jobs_.end()) {
            Job adopted;
            adopted.folder = found->second;
            const BatchJob stored = read_batch_job(adopted.folder);
            adopted.name = stored.name;  // the same root may have another path now
            if (stored.task >= 0) adopted.task = stored.task;
            adopted.nodes = stored.nodes;
            adopted.number = read_job_number(adopted.folder);
            adopted.submitted = Clock::now();
            job = jobs_.insert(jobs_.end(), std::move(adopted));
        }
        Run& run = job->runs.emplace_back();
        run.id = ++started_;
        run.folder = run_folder;
        return run.id;
    }

    std::vector<std::pair<RunId, RunStatus>> look() override {
        if (may_submit()) submit_gathered(jobs_.empty());
        std::vector<std::pair<RunId, RunStatus>> seen;
        if (!jobs_.empty()) ask_queue();
        for (Job& job : jobs_) {
            look_at(job);
            for (const Run& run : job.runs) seen.emplace_back(run.id, run.status);
            std::erase_if(job.runs, [](const Run& run) { return run.has_ended(); });
        }
        std::erase_if(jobs_, [](const Job& job) { return job.runs.empty(); });
        std::erase_if(gathered_, [&](const Gathered& one) {
            RunStatus status;
            status.phase = RunPhase::waiting;
            status.reason = may_submit() ? "it is gathered into a job with others" : "Slurm does not answer";
            const bool is_withdrawn = has_stop_file(one.request.folder);
            if (is_withdrawn) set_end(status, BatchEnd::cancellation, "it was not submitted");
            seen.emplace_back(one.id, status);
            return is_withdrawn;
        });
        return seen;
    }

    void ask_to_end(RunId id) override { ask_to_end(id, false); }
    void end(RunId id) override { ask_to_end(id, true); }

    const char* name() const override { return "slurm"; }
    std::vector<std::string> command(const LaunchRequest& request) const override {
        return submit_argv(job_folder_of(request.folder), request, shape_of_job(request, settings_, 1), settings_);
    }
    bool starts_children() const override { return false; }
    bool outlives_driver() const override { return true; }
    results_db::ProcessIdentity process_of(RunId) const override { return {}; }

 private:
    // The stop file ends a running attempt, and one that begins although its job was cancelled. Slurm cancels whole
    // jobs: those with an attempt that is to go on are left to it.
    void ask_to_end(RunId id, bool at_once) {
        const auto is_meant = [&](const Run& run) { return run.id == id; };
        for (const Gathered& one : gathered_)
            if (one.id == id) write_stop_file(one.request.folder);
        const auto job =
            std::ranges::find_if(jobs_, [&](const Job& one) { return std::ranges::any_of(one.runs, is_meant); });
        if (job == jobs_.end()) return;
        Run& run = *std::ranges::find_if(job->runs, is_meant);
        run.is_asked = true;
        write_stop_file(run.folder);
        if (at_once) write_kill_file(run.folder);
        for (Run& other : job->runs)
            if (const auto claim = read_claim(other.folder)) other.status.host = claim->host;
        if (std::ranges::all_of(job->runs, &Run::is_asked) &&
            (at_once || std::ranges::none_of(job->runs, &Run::is_running)))
            cancel(*job);
    }

    // Whether the queue was asked since a submission did not answer. Two such submissions in a row would take longer
    // than Slurm remembers an ended job (MinJobAge).
    bool may_submit() const { return !is_queue_due_ || jobs_.empty(); }

    // All of it, or what fills jobs.
    void submit_gathered(bool all) {
        if (gathered_.empty()) return;
        std::vector<LaunchRequest> requests;
        for (const Gathered& one : gathered_)
            if (!has_stop_file(one.request.folder)) requests.push_back(one.request);
        std::vector<std::vector<LaunchRequest>> ready = packed(requests, settings_);
        std::erase_if(ready, [&](const auto& job) { return !all && has_room(job, settings_); });
        while (!ready.empty()) {
            const LaunchRequest first = ready.front().front();
            const JobShape shape = shape_of_job(first, settings_, ready.front().size());
            const auto rest = std::stable_partition(ready.begin(), ready.end(), [&](const auto& job) {
                return has_shape_of(job.front(), first) && shape_of_job(job.front(), settings_, job.size()) == shape;
            });
            submit_equal({ready.begin(), rest});
            ready.erase(ready.begin(), rest);
        }
    }

    // As an array where they are many.
    void submit_equal(const std::vector<std::vector<LaunchRequest>>& equal) {
        const bool is_array = equal.size() >= kLeastArray;
        const fs::path first = job_folder_of(equal.front().front().folder);
        const fs::path array = first.parent_path() / ("array-" + first.filename().string());
        std::vector<Job> jobs;
        std::vector<fs::path> folders;
        for (const std::vector<LaunchRequest>& requests : equal) {
            const std::optional<ArrayTask> task =
                is_array ? std::optional(ArrayTask{array, static_cast<int>(jobs.size())}) : std::nullopt;
            jobs.push_back(make_job(requests, task));
            folders.push_back(jobs.back().folder);
        }
        if (is_array) {
            const LaunchRequest& request = equal.front().front();
            const JobShape shape = shape_of_job(request, settings_, equal.front().size());
            submit_array(write_slurm_array(array, folders, request, shape, settings_), folders, jobs);
        } else {
            for (Job& job : jobs) submit_or_end(job);
        }
        std::ranges::move(jobs, std::back_inserter(jobs_));
    }

    Job make_job(const std::vector<LaunchRequest>& requests, const std::optional<ArrayTask>& task) {
        Job job;
        job.folder = job_folder_of(requests.front().folder);
        job.name = job_name_of(task ? task->array : job.folder);
        if (task) job.task = task->number;
        job.nodes = shape_of_job(requests.front(), settings_, requests.size()).nodes;
        for (const LaunchRequest& request : requests) {
            const auto one = std::ranges::find_if(
                gathered_, [&](const Gathered& gathered) { return gathered.request.folder == request.folder; });
            Run& run = job.runs.emplace_back();
            run.id = one->id;
            run.folder = request.folder;
            run.status.phase = RunPhase::waiting;
            gathered_.erase(one);
        }
        job.submit = write_slurm_job(job.folder, requests, settings_, task);
        return job;
    }

    // Before the first submission, the settings can still be corrected. A controller that does not answer has not
    // refused them.
    void test_shape(const LaunchRequest& request) {
        const SlurmReply reply = ask(test_argv(request, settings_), patience_.submit);
        if (reply.is_whole || may_answer_later(reply) || lacks_nodes(reply)) return;
        throw Error(ErrorKind::config, fmt::format("sbatch refused the job: {}", reply.complaint),
                    "correct --slurm or [resources.slurm]; `sinfo` lists partitions, `sacctmgr show assoc` accounts",
                    "the job was not submitted");
    }

    // A refusal, as by a limit of jobs, is that job's alone.
    void submit_or_end(Job& job) {
        if (const std::optional<std::string> refusal = submit(job)) end_all(job, BatchEnd::refusal, *refusal);
    }

    // A refused array, as by a limit of its size, is submitted as jobs of their own. So are the tasks of one that the
    // controller did not answer, once the queue lacks them.
    void submit_array(const std::vector<std::string>& argv, const std::vector<fs::path>& folders,
                      std::vector<Job>& jobs) {
        const SlurmReply reply = ask_to_submit(argv, folders);
        const std::optional<std::string> number = submitted_job(reply);
        const bool is_refused = !number && !may_answer_later(reply) && !reply.is_whole;
        for (Job& job : jobs) {
            job.submitted = Clock::now();
            if (number) {
                job.number = fmt::format("{}_{}", *number, *job.task);
                write_job_number(job.folder, job.number);
            } else if (is_refused) {
                submit_or_end(job);
            } else {
                job.problem = fmt::format("sbatch: {}", reply.complaint);
            }
        }
    }

    // Slurm's words where it refuses the job. A controller that does not answer may have accepted it: the queue shows
    // that by the name, and singleton lets one job of a name run at a time.
    std::optional<std::string> submit(Job& job) {
        job.submitted = Clock::now();
        if (job.task.has_value()) {
            BatchJob own = read_batch_job(job.folder);
            own.name = job_name_of(job.folder);
            own.task = -1;
            write_batch_job(job.folder, own);
            job.name = job_name_of(job.folder);
            job.task.reset();
        }
        const SlurmReply reply = ask_to_submit(job.submit, {job.folder});
        if (const std::optional<std::string> number = submitted_job(reply)) {
            job.number = *number;
            job.problem.clear();
            write_job_number(job.folder, job.number);
            return std::nullopt;
        }
        if (!may_answer_later(reply) && !reply.is_whole) return reply.complaint;
        job.problem = fmt::format("sbatch: {}", reply.complaint);
        return std::nullopt;
    }

    // `folders`: of the jobs that the command submits.
    SlurmReply ask_to_submit(const std::vector<std::string>& argv, const std::vector<fs::path>& folders) {
        if (!is_paused())
            for (const fs::path& folder : folders) note_submission(folder);
        SlurmReply reply = ask(argv, patience_.submit);
        is_queue_due_ = reply.is_late;
        return reply;
    }

    // Where one command was late, the next ones wait: the driver hears signals and reads journals meanwhile.
    bool is_paused() const { return late_ && seconds_since(*late_) < patience_.between; }
    SlurmReply ask(const std::vector<std::string>& argv, double seconds) {
        if (is_paused()) {
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

    // Cancels by name: no number is known while sbatch has not answered, and Slurm may have accepted a job twice. The
    // tasks of an array share their name, so one without a number ends by its stop files alone.
    void cancel(Job& job) {
        if (!job.cancelled) job.cancelled = Clock::now();
        if (!job.task)
            ask({"scancel", "--name=" + job.name}, patience_.question);
        else if (!job.number.empty())
            ask({"scancel", job.number}, patience_.question);
    }

    void ask_queue() {
        is_fresh_ = false;
        if (answered_ && seconds_since(*answered_) < patience_.between) return;
        if (!is_paused()) is_queue_due_ = false;
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

    // Among jobs of one name, the one that has not ended, or else the newest.
    const QueuedJob* queued(const Job& job) const {
        const QueuedJob* best = nullptr;
        for (const QueuedJob& one : queue_) {
            if (one.name != job.name || (job.task && !one.id.ends_with(fmt::format("_{}", *job.task)))) continue;
            const auto rank = [](const QueuedJob& other) {
                return std::tuple(!is_ended_state(other.state), other.id.size(), other.id);
            };
            if (best == nullptr || rank(one) > rank(*best)) best = &one;
        }
        return best;
    }

    // In order of trust: the job's file, the queue, accounting, and then time.
    void look_at(Job& job) {
        look_at_queue(job);
        const std::map<std::string, RunEnd> ends = read_run_ends(job.folder);
        for (Run& run : job.runs) {
            if (run.has_ended()) continue;  // refused at its submission
            if (!run.is_running())
                if (const std::optional<Claim> claim = read_claim(run.folder)) run.status.host = claim->host;
            const auto end = ends.find(run.folder.filename().string());
            if (end != ends.end())
                settle(job, run, end->second);
            else
                settle_unsaid(job, run);
        }
    }

    // Whether the answer is newer than the job's submission.
    bool knows_queue(const Job& job) const { return is_answered_ && *asked_ >= job.submitted; }

    void look_at_queue(Job& job) {
        if (!knows_queue(job)) return;
        const QueuedJob* const found = queued(job);
        if (found != nullptr && !is_ended_state(found->state)) {
            job.absent.reset();
            job.number = found->id;
            job.problem = found->reason;
            if (job.cancelled && is_fresh_) cancel(job);  // the controller may not have heard it
            return;
        }
        if (found != nullptr) {
            job.number = found->id;
            job.end_state = found->state;
        }
        if (!job.absent) job.absent = Clock::now();
        job.problem = "it is not in the queue";
        if (found != nullptr || !is_fresh_ || job.number.empty()) return;
        const SlurmReply reply = ask(accounting_argv(job.number), patience_.question);
        if (const auto state = accounted_state(reply, job.number, job.name); state && is_ended_state(*state))
            job.end_state = *state;
    }

    // Whether an attempt ran before this one in its job, which so could begin one.
    static bool is_after_another(const Job& job, const Run& run) {
        return run.folder.filename() != job.folder.filename();
    }

    // An earlier attempt of the job used up its time or memory. Other reasons hold for all attempts that it has left.
    static BatchEnd end_without_begin(const Job& job, const Run& run, BatchEnd by) {
        const bool is_of_another = by == BatchEnd::none || by == BatchEnd::time_limit || by == BatchEnd::out_of_memory;
        return is_of_another && is_after_another(job, run) ? BatchEnd::unbegun : by;
    }

    // Nobody says how the job ended, or Slurm says no more than that it did.
    static BatchEnd unknown_end(const Job& job, const Run& run) {
        if (!run.is_running() && is_after_another(job, run)) return BatchEnd::unbegun;
        return job.end_state.empty() ? BatchEnd::forgotten : BatchEnd::loss;
    }

    // Slurm ends the processes of a job by these signals, and a job that is not in the queue may have ended so.
    bool may_be_forgotten(const Job& job, const RunEnd& end) const {
        const int signal = WIFSIGNALED(end.wait_status) ? WTERMSIG(end.wait_status) : 0;
        const bool is_live = knows_queue(job) && !job.absent;
        return job.end_state.empty() && !is_live && (signal == SIGKILL || signal == SIGTERM);
    }

    // An end that the job wrote. Where the attempt did not choose it, Slurm says why, or time passes.
    void settle(const Job& job, Run& run, const RunEnd& end) {
        // srun says why a step on several nodes ended, and whether it began.
        const StepWords words = job.nodes > 1 ? step_words(run.folder / "log.txt") : StepWords{};
        const bool is_unexplained = words.end == BatchEnd::closed || words.end == BatchEnd::forgotten;
        const bool has_not_begun = end.cause == RunEndCause::not_begun || words.end == BatchEnd::closed;
        const bool is_signalled = WIFSIGNALED(end.wait_status);
        // The job asked it to end, for a reason that only Slurm knows. On several nodes or ranks, that is a stop file.
        const bool is_by_job = end.cause == RunEndCause::signal || end.cause == RunEndCause::overdue;
        const bool is_own_cancel = is_by_job && words.end == BatchEnd::cancellation;
        const bool stopped = !is_signalled && !has_not_begun && WEXITSTATUS(end.wait_status) == kExitWorkLeft;
        run.status.wait_status = has_not_begun ? W_EXITCODE(0, SIGKILL) : end.wait_status;
        const auto finish = [&](BatchEnd by, const std::string& why) {
            run.status.phase = RunPhase::ended;
            run.status.batch_end = by;
            run.status.batch_words = why;
        };
        if (words.end != BatchEnd::none && !is_unexplained && !is_own_cancel && !run.is_asked) {
            finish(words.end, words.line);
        } else if (end.cause == RunEndCause::out_of_memory) {
            finish(BatchEnd::out_of_memory, "the kernel killed it");
        } else if (run.is_asked) {
            finish(has_not_begun ? BatchEnd::cancellation : BatchEnd::none, "asked to end");
        } else if ((stopped || has_not_begun) && !is_by_job && has_stop_file(run.folder)) {
            finish(BatchEnd::cancellation, "its stop file asked it to end");
        } else if (end.cause != RunEndCause::none || is_signalled || is_unexplained) {
            if (!run.ended) run.ended = Clock::now();
            if (job.end_state.empty() && seconds_since(*run.ended) < patience_.agreement) return;
            const bool is_asked_by_slurm = end.cause != RunEndCause::none || has_not_begun;
            BatchEnd by = batch_end_of(job.end_state);
            std::string why = by == BatchEnd::none ? "Slurm asked its job to end" : job.end_state;
            if (by == BatchEnd::none && is_asked_by_slurm) by = BatchEnd::time_limit;
            if (has_not_begun) by = end_without_begin(job, run, by);
            if (by == BatchEnd::none && (words.end == BatchEnd::forgotten || may_be_forgotten(job, end))) {
                by = BatchEnd::forgotten;
                why = !words.line.empty() ? words.line : is_answered_ ? job.problem : problem_;
            }
            finish(by, by == BatchEnd::none ? "" : why);
        } else {
            finish(BatchEnd::none, "");
        }
    }

    // No end is written: it waits, runs, or its job ended without a word.
    void settle_unsaid(Job& job, Run& run) {
        run.status.phase = run.is_running() ? RunPhase::running : RunPhase::waiting;
        run.status.reason = job.problem;
        // A driver that ends does not wait for a controller that is down: the stop file ends the attempt later.
        if (job.cancelled && seconds_since(*job.cancelled) > patience_.agreement) {
            set_end(run.status, BatchEnd::cancellation, "cancelled; Slurm has not confirmed it");
        } else if (!is_answered_) {
            if (!run.is_running()) run.status.phase = RunPhase::unknown;
            run.status.reason = problem_;
        } else if (job.absent) {
            settle_absent(job, run);
        } else if (knows_queue(job) && !run.is_running() && is_permanent(job.problem)) {
            if (!job.cancelled) cancel(job);
            set_end(run.status, BatchEnd::refusal, job.problem);
        }
    }

    void settle_absent(Job& job, Run& run) {
        if (!run.is_running()) run.status.phase = RunPhase::unknown;
        if (const BatchEnd of_job = batch_end_of(job.end_state); of_job != BatchEnd::none) {
            const BatchEnd end = run.is_running() ? of_job : end_without_begin(job, run, of_job);
            const bool is_ours = job.cancelled && end == BatchEnd::cancellation;
            set_end(run.status, end, is_ours ? "cancelled" : job.end_state);
        } else if (job.cancelled) {
            set_end(run.status, BatchEnd::cancellation, "cancelled");
        } else if (job.number.empty() && !job.submit.empty()) {
            if (seconds_since(job.submitted) < patience_.again) return;
            job.absent.reset();
            if (const std::optional<std::string> refusal = submit(job)) end_all(job, BatchEnd::refusal, *refusal);
        } else if (seconds_since(*job.absent) >
                   (run.is_running() || !job.end_state.empty() ? patience_.agreement : patience_.lost)) {
            set_end(run.status, unknown_end(job, run), job.problem);
        }
    }

    static void set_end(RunStatus& status, BatchEnd end, const std::string& words) {
        status.phase = RunPhase::ended;
        status.wait_status = W_EXITCODE(0, SIGKILL);
        status.batch_end = end;
        status.batch_words = words;
    }
    static void end_all(Job& job, BatchEnd end, const std::string& words) {
        for (Run& run : job.runs) set_end(run.status, end, words);
    }

    SlurmSettings settings_;
    SlurmPatience patience_;
    RunId started_ = 0;
    std::vector<Gathered> gathered_;
    std::vector<Job> jobs_;
    std::optional<std::map<std::string, fs::path>> known_jobs_;  // of earlier drivers, by run
    bool is_tested_ = false;                                     // whether Slurm takes the shape of the jobs
    std::optional<Clock::time_point> late_;                      // a command, when it had not answered
    bool is_queue_due_ = false;                                  // since a submission did not answer
    std::optional<Clock::time_point> asked_, answered_;          // the queue
    bool is_answered_ = false;                                   // then
    bool is_fresh_ = false;                                      // it answered in this look
    std::string problem_ = "squeue was not asked yet";
    std::vector<QueuedJob> queue_;
};

}  // namespace

std::unique_ptr<Launcher> make_slurm_launcher(SlurmSettings settings, SlurmPatience patience) {
    if (!settings.setup.empty() && !fs::exists(settings.setup))
        throw Error(ErrorKind::missing, fmt::format("slurm.setup names {}, which is not there", settings.setup),
                    "name a file of shell commands, or leave it out", "nothing was submitted");
    return std::make_unique<SlurmLauncher>(std::move(settings), patience);
}

}  // namespace deft::sweeps
