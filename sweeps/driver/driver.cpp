#include "sweeps/driver/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "experiments/checkpoints.h"
#include "experiments/evaluation/validation_schedule.h"
#include "experiments/prepare.h"
#include "experiments/projection.h"
#include "reporting/text.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "sweeps/driver/adoption.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/check_tasks.h"
#include "sweeps/driver/children.h"
#include "sweeps/driver/job_account.h"
#include "sweeps/driver/late_journals.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/driver/narration.h"
#include "sweeps/driver/overview.h"
#include "sweeps/driver/prerequisites.h"
#include "sweeps/driver/queue.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/recovery.h"
#include "sweeps/driver/signals.h"
#include "sweeps/driver/stop_cause.h"
#include "sweeps/driver/stored_results.h"
#include "sweeps/driver/work_left.h"
#include "sweeps/spec/select.h"

namespace deft::sweeps {

namespace {

constexpr int kPollMs = 200;
constexpr double kIngestSeconds = 1;
constexpr int kOrphanGraceMs = 3000;
constexpr double kStartingSeconds = 1;

struct Interrupted {};

class Driver {
 public:
    Driver(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options)
        : spec_(spec),
          trials_(trials),
          options_(options),
          selected_(selected_trials(trials, options.only)),
          progress_(options.progress, options.narration),
          writer_(database_in(options.root), lock_options()),
          launcher_(make_launcher(options.launcher)),
          starter_{spec, options, recorded_, writer_, *launcher_, results_db::random_uid()},
          work_(trials, options, recorded_, writer_),
          prerequisites_(trials, options, work_, state_, progress_) {}

    // A child must never outlive the driver that would have to record its end, unless a later one adopts it.
    ~Driver() {
        if (!launcher_->outlives_driver()) end_children();
    }

    RunSummary run() {
        recorded_ = record_sweep(writer_, spec_, trials_, options_);
        const Adoption adoption = adopt(writer_.live_attempts(), options_.root, recorded_.trial_ids, selected_,
                                        *launcher_, options_.cancel_with);
        for (const std::string& line : recover(writer_, options_.root, kOrphanGraceMs, adoption.kept))
            progress_.event(line);
        std::vector<std::size_t> asked_for;
        for (std::size_t trial = 0; trial < trials_.size(); ++trial)
            if (selected_[trial] != 0) asked_for.push_back(trial);
        for (const std::string& line : take_in_folders(writer_, options_.root, trials_, asked_for, recorded_))
            progress_.event(line);
        fill_queue();
        take_over(adoption.adopted);
        prerequisites_.set_aside();
        announce();
        if (state_.queue.waiting.empty() && state_.running.empty()) return failures() > 0 ? conclude() : state_.summary;
        std::vector<Trial> waiting;
        for (const std::size_t trial : state_.queue.waiting) {
            require_fit(trials_[trial], options_.slots, work_.work_of(trial));
            waiting.push_back(trials_[trial]);
        }
        check_tasks(waiting);
        try {
            prepare_data();
            loop();
        } catch (const Error&) {
            // Most often a full disk. What the trials wrote so far is in their journals.
            const std::size_t count = state_.running.size();
            const bool goes_on = launcher_->outlives_driver();
            if (!goes_on) end_children();
            progress_.finish();
            const std::string ended = count == 0 ? ""
                                                 : fmt::format("{} {}; ", counted(count, "running trial"),
                                                               goes_on      ? "continue as Slurm jobs"
                                                               : count == 1 ? "was ended"
                                                                            : "were ended");
            progress_.warning(
                fmt::format("{}after the error below is corrected, resume with: {}", ended, options_.continue_with));
            throw;
        }
        progress_.finish();
        return conclude();
    }

 private:
    results_db::LockOptions lock_options() {
        results_db::LockOptions lock;
        lock.on_watch = [this](const std::string& machine, double seconds) {
            progress_.event(watch_notice(machine, seconds));
        };
        lock.sleep = [this](double seconds) {
            signals_.sleep_ms(static_cast<int>(seconds * 1000));
            return !signals_.terminated() && signals_.interrupts() == 0;
        };
        return lock;
    }

    void fill_queue() {
        state_.queue = make_queue(trials_, spec_.sha256, [&](std::size_t trial) {
            if (selected_[trial] == 0) return false;
            const bool is_done = work_.is_trained(trial) && work_.unscored(trial).empty();
            if (!is_done && !trials_[trial].is_left) return true;
            ++state_.summary.already_done;
            return false;
        });
    }

    // The jobs of an earlier driver keep their attempts.
    void take_over(const std::vector<AdoptedAttempt>& adopted) {
        std::size_t slot = 0;
        for (const AdoptedAttempt& one : adopted) {
            std::erase(state_.queue.waiting, one.place);
            ++state_.queue.tries[one.place];
            state_.running.push_back(adopted_child(one, trials_[one.place], slot++ % options_.slots.size(), options_));
        }
        if (!adopted.empty())
            progress_.event(
                fmt::format("adopted {} of an earlier run as Slurm jobs", counted(adopted.size(), "attempt")));
    }

    int failures() const { return state_.summary.failed + state_.summary.blocked; }

    void announce() {
        std::vector<Trial> left;
        Overview overview;
        for (const std::size_t trial : state_.queue.waiting) {
            left.push_back(trials_[trial]);
            const bool trained = work_.work_of(trial) == results_db::Work::score;
            overview.add_left(trials_[trial], trained);
            if (trained) state_.trained.insert(trial);
        }
        overview.done = static_cast<std::size_t>(state_.summary.already_done);
        overview.selected = left.size() + state_.running.size() + overview.done + static_cast<std::size_t>(failures());
        overview.add_measured(results_db::Reader(database_file(options_.root)).pace(spec_.name));
        starter_.flops_per_second = overview.flops_per_second;
        for (const std::string& line : describe(spec_, trials_, options_, overview)) progress_.event(line);
        if (const std::size_t count = without_validations(); count > 0)
            progress_.event(
                fmt::format("{} trained before eval.every asked for validations on the way, which move no "
                            "weight; to have their curves, train them in another --root",
                            counted(count, "trial was", "trials were")));
        if (left.empty() && state_.running.empty() && failures() == 0)
            progress_.event("everything was finished already");
        Machine machine = this_machine(options_.root);
        const bool is_elsewhere = !launcher_->starts_children() || !options_.hosts.empty();
        if (is_elsewhere) machine.memory_bytes = std::numeric_limits<std::int64_t>::max();
        for (const std::string& line :
             exceeded_limits(left, options_.slots.front(), options_.slots.size(), machine, options_.root))
            progress_.warning(line);
    }

    std::size_t without_validations() const {
        std::set<std::int64_t> found;
        for (std::size_t trial = 0; trial < trials_.size(); ++trial)
            if (selected_[trial] != 0 && !trials_[trial].config.eval.every.empty() && work_.is_trained(trial) &&
                !writer_.was_validated(recorded_.trial_ids[trial]) &&
                experiments::validates_during_training(
                    experiments::parse_validation_schedule(trials_[trial].config.eval.every),
                    experiments::project(trials_[trial].config).steps))
                found.insert(recorded_.trial_ids[trial]);
        return found.size();
    }

    // Data that several trials share is made once, before them, with the user watching.
    void prepare_data() {
        std::string said;
        const auto say = [&](const std::string& what, double) {
            if (signals_.terminated() || signals_.interrupts() > 0) throw Interrupted{};
            if (what != said) progress_.event(fmt::format("data    {}", what));
            said = what;
        };
        std::set<std::string> seen;
        try {
            for (const std::size_t trial : state_.queue.waiting) {
                // A scoring needs the corpus for validation alone.
                if (work_.work_of(trial) == results_db::Work::score && !work_.asks_for_validation(trial)) continue;
                const experiments::TrialConfig& config = trials_[trial].config;
                std::string key = config.data.sha256;
                if (config.curriculum)
                    for (const auto& metric : config.curriculum->metrics)
                        key += fmt::format(" {} {} {}", metric.metric, config.model.seqlen, metric.column_sha256);
                if (seen.insert(key).second) experiments::prepare_data(config, data_folder(options_.root), say);
            }
        } catch (const Interrupted&) {
            state_.draining = true;
            note_signal();
        }
    }

    void loop() {
        state_.started = Clock::now();
        while (true) {
            heed_signals();
            if (is_leaving_) return;
            start_all();
            if (state_.running.empty() && late_.empty()) return;
            if (!reap()) {
                ingest_all();
                kill_hung(state_.running, options_.hang_seconds, *launcher_, progress_);
                progress_.update(view_of(state_, spec_, trials_, options_));
                if (options_.while_running) options_.while_running();
                signals_.sleep_ms(kPollMs);
            }
        }
    }

    // Starting may take long, as where Slurm is slow. Journals and signals are looked at meanwhile.
    void start_all() {
        const Clock::time_point start = Clock::now();
        while (seconds_since(start) < kStartingSeconds && start_next()) {
        }
        if (state_.queue.waiting.empty()) launcher_->submit(false);
    }

    // Slurm's jobs go on without a driver.
    void leave() {
        is_leaving_ = state_.draining = true;
        note_signal();
        launcher_->submit(true);
        if (!state_.running.empty())
            progress_.warning(fmt::format("leaving: {} as Slurm jobs. To cancel them: {}",
                                          counted(state_.running.size(), "attempt continues", "attempts continue"),
                                          options_.cancel_with));
    }

    // The exit code of a run that a signal has ended.
    void note_signal() { signal_exit_code_ = signals_.terminated() ? kExitWorkLeft : 128 + SIGINT; }

    void heed_signals() {
        if (launcher_->outlives_driver()) {
            if (signals_.terminated() || signals_.interrupts() > 0) leave();
        } else if (interrupts_at_stop_) {
            kill_overdue(state_.running, signals_.interrupts() > *interrupts_at_stop_, *launcher_, progress_);
        } else if (signals_.terminated() || signals_.interrupts() > 1) {
            note_signal();
            state_.draining = true;
            if (!state_.running.empty())
                progress_.warning(
                    "stopping: the running trials save a checkpoint and end. Ctrl-C once more kills them");
            stop_children();
        } else if (signals_.interrupts() == 1 && !state_.draining) {
            state_.draining = true;
            progress_.warning(fmt::format(
                "draining: {} will finish, {} will not start. "
                "Ctrl-C again stops at once. To go on later: {}",
                counted(state_.running.size(), "running trial"), state_.queue.waiting.size(), options_.continue_with));
        }
    }

    void stop_children() {
        interrupts_at_stop_ = signals_.interrupts();
        ask_to_stop(state_.running, cause_of_stop(signals_.has_sigterm(), now_ms()), *launcher_);
    }

    // Ends all children, without the database: the next run takes in what they wrote.
    void end_children() {
        if (state_.running.empty()) return;
        if (!interrupts_at_stop_) stop_children();
        while (!state_.running.empty()) {
            kill_overdue(state_.running, signals_.interrupts() > *interrupts_at_stop_, *launcher_, progress_);
            if (take_ended(state_.running, *launcher_).empty()) signals_.sleep_ms(kPollMs);
        }
    }

    // While it drains, a run scores what it has trained, and starts nothing else. Two places of a sweep may share a
    // training.
    bool may_start(std::size_t trial) const {
        if (interrupts_at_stop_ || is_job_ending_ || (state_.draining && !to_score_.contains(trial))) return false;
        if (work_.work_of(trial) == results_db::Work::train && !work_.has_start(trial)) return false;
        const auto is_same = [&](const Child& child) { return work_.is_same_training(child.trial, trial); };
        return std::none_of(state_.running.begin(), state_.running.end(), is_same) && !late_.any_of(is_same);
    }

    // False where no waiting trial may start, or none fits a free slot.
    bool start_next() {
        const auto is_busy = [&](std::size_t slot) {
            return std::any_of(state_.running.begin(), state_.running.end(),
                               [&](const Child& child) { return child.slot == slot; });
        };
        const auto next = take_next(state_.queue, options_.slots.size(), is_busy, [&](Placement place) {
            return may_start(place.trial) &&
                   fits(trials_[place.trial], options_.slots[place.slot], work_.work_of(place.trial));
        });
        if (!next) return false;
        const Assignment assignment = work_.assignment_of(next->trial);
        if (assignment.work == results_db::Work::score && assignment.keys.empty()) {
            ++state_.summary.ok;  // another place of the sweep asked the same
            return true;
        }
        state_.running.push_back(start_trial(starter_, trials_, next->trial, next->slot, assignment));
        const Child& child = state_.running.back();
        writer_.set_running(child.attempt, launcher_->process_of(child.run), now_ms());
        return true;
    }

    void ingest_all() {
        if (seconds_since(ingested_) < kIngestSeconds) return;
        for (Child& child : state_.running) ingest(child);
        ingested_ = Clock::now();
    }

    void ingest(Child& child) {
        const Ingested ingested = ingest_or_explain(writer_, child.attempt, child.journal());
        if (ingested.is_shorter) {
            if (!child.shorter) child.shorter = Clock::now();
            if (seconds_since(*child.shorter) < options_.late_journal_seconds) return;
        }
        const auto& fresh = ingested.fresh;
        if (!fresh) {
            // Its numbers cannot be trusted any more. Why is recorded once it has ended.
            launcher_->end(child.run);
            return;
        }
        child.shorter.reset();
        if (fresh->started) {
            child.total_steps = fresh->started->total_steps;
            report_resume(child, *fresh->started, progress_);
            child.reported_start = true;
        }
        if (fresh->last_point) child.last_point = fresh->last_point;
    }

    // False where no trial has ended with its journal.
    bool reap() {
        std::vector<EndedChild> ended = take_ended(state_.running, *launcher_);
        if (!ended.empty()) {
            const long kills = memory_kills();
            for (EndedChild& one : ended) {
                one.end.kernel_killed_for_memory = kills > memory_kills_;
                late_.add(std::move(one));
            }
            memory_kills_ = kills;
        }
        const bool is_impatient = interrupts_at_stop_ && signals_.interrupts() > *interrupts_at_stop_;
        const std::vector<SettledChild> settled =
            late_.take_settled(writer_, is_impatient ? 0 : options_.late_journal_seconds, progress_);
        for (const SettledChild& one : settled) finish(one.child, one.end, one.journal);
        return !settled.empty();
    }

    void finish(const Child& child, const ChildEnd& end, const JournalSummary& journal) {
        results_db::Outcome outcome = classify(end, journal);
        if (end.batch_end == BatchEnd::time_limit && outcome.state == "preempted" && !has_newer_checkpoint(child)) {
            outcome.state = "timeout";  // it would meet the same limit again
            outcome.error += "; it left no newer checkpoint";
        }
        judge_forgotten_end(child, end, outcome);
        if (end.batch_end == BatchEnd::closed) heed_closed_job(outcome);
        if (journal.started && !child.reported_start) report_resume(child, *journal.started, progress_);
        record_end(writer_, child.attempt, child.folder, outcome, journal);
        ended_runs_.insert(child.folder.filename().string());
        if (child.work == results_db::Work::train)  // scoring is in no trial's cost
            state_.device_seconds += end.held_seconds * devices_a_trial(options_.slots.front(), options_.threads);
        if (journal.last_point) state_.flops_done += journal.last_point->flops;

        if (outcome.state == "ok") {
            EndedTraining& training = state_.ended_trainings[child.trial];
            training.seconds += end.held_seconds;
            if (journal.last_point) training.loss = journal.last_point->loss;
            finish_well(child);
        } else if (outcome.state == "cancelled" && end.asked_by == StopCause::none && !is_old_cancellation(child)) {
            hold(state_.queue, child.trial);
            progress_.warning(fmt::format("held {}: {}", child.name, reporting::visible(outcome.error)));
        } else if (outcome.state == "cancelled" || outcome.state == "preempted") {
            // Stopped by us, or by somebody who wants the machine: neither is the trial's fault, and it can go on.
            put_back(state_.queue, child.trial);
            progress_.event(
                fmt::format("stopped {}{}", child.name, outcome.state == "preempted" ? "  (it will go on)" : ""));
        } else {
            report_failure(child, outcome, progress_);
            if (!state_.draining && try_again(state_.queue, child.trial, outcome)) {
                progress_.event(fmt::format("retry   {}", child.name));
                return;
            }
            count_failure();
            if (child.work == results_db::Work::train) prerequisites_.block_behind(child.trial);
        }
    }

    // A trial whose attempts end so again and again, and get no further, may be the cause itself.
    void judge_forgotten_end(const Child& child, const ChildEnd& end, results_db::Outcome& outcome) {
        const bool is_forgotten = end.batch_end == BatchEnd::forgotten && outcome.state == "preempted";
        if (!is_forgotten || has_newer_checkpoint(child)) {
            forgotten_.erase(child.trial);
        } else if (!forgotten_.insert(child.trial).second) {
            outcome.state = "failed";
            outcome.fail_class = "crash";
            outcome.error += "; its last attempt ended so, too, and neither left a newer checkpoint";
        }
    }

    // srun starts no other step of this job.
    void heed_closed_job(results_db::Outcome& outcome) {
        if (outcome.state == "preempted") outcome.fail_class = record_of(cause_of_stop(true, now_ms())).fail_class;
        if (!std::exchange(is_job_ending_, true))
            progress_.warning("the Slurm job of this run is ending, and no trial starts any more");
    }

    bool has_newer_checkpoint(const Child& child) const {
        return child.is_adopted || experiments::newest_checkpoint(checkpoint_folder(
                                       options_.root, trials_[child.trial].config_hash)) != child.first_checkpoint;
    }

    // Somebody who runs the sweep again after a cancellation wants the trial to go on.
    static bool is_old_cancellation(const Child& child) {
        return child.is_adopted && (child.was_cancelled || !child.was_live);
    }

    // Trained, a trial is scored next; scored, it is done.
    void finish_well(const Child& child) {
        work_.end_retraining(child.trial);
        if (work_.unscored(child.trial).empty()) {
            to_score_.erase(child.trial);
            ++state_.summary.ok;
            report_finished(child, experiments::is_imported(trials_[child.trial].config),
                            state_.ended_trainings[child.trial], progress_);
        } else if (child.work == results_db::Work::train) {
            to_score_.insert(child.trial);
            for (std::size_t trial = 0; trial < trials_.size(); ++trial)
                if (work_.is_same_training(trial, child.trial)) state_.trained.insert(trial);
            put_to_score(state_.queue, child.trial);
        } else {
            progress_.warning(
                fmt::format("{}: its evaluation ended without the scores that were asked for", child.name));
            count_failure();
        }
    }

    void count_failure() {
        ++state_.summary.failed;
        if (!options_.fail_fast || state_.draining) return;
        state_.draining = true;
        progress_.warning(
            fmt::format("--fail-fast: no trial starts any more, {} running will finish", state_.running.size()));
    }

    RunSummary conclude() {
        RunSummary& summary = state_.summary;
        summary.left = static_cast<int>(state_.queue.waiting.size() + state_.queue.held.size() + state_.running.size());
        summary.is_stopped = state_.draining || is_job_ending_;
        if (summary.left > 0) summary.exit_code = kExitWorkLeft;
        if (failures() > 0 && (summary.left == 0 || options_.fail_fast)) summary.exit_code = kExitFailed;
        if (signal_exit_code_) summary.exit_code = *signal_exit_code_;
        progress_.event(conclusion(state_, options_));
        if (!launcher_->outlives_driver()) return summary;
        const std::string held = describe(account_of_jobs(options_.root, ended_runs_), spec_.price);
        if (!held.empty()) progress_.event(held);
        return summary;
    }

    const Spec& spec_;
    const std::vector<Trial>& trials_;
    const DriverOptions& options_;
    const std::vector<char> selected_;  // by trial: whether this run is asked for it
    SignalWatch signals_;
    Progress progress_;
    results_db::Writer writer_;
    RecordedSweep recorded_;
    std::unique_ptr<Launcher> launcher_;
    TrialStarter starter_;
    RunState state_;
    LateJournals late_;
    WorkLeft work_;
    Prerequisites prerequisites_;
    Clock::time_point ingested_{};  // when the journals were last taken in
    long memory_kills_ = memory_kills();
    std::set<std::string> ended_runs_;       // run folders, by name
    std::set<std::size_t> to_score_;         // trained in this run
    std::optional<int> interrupts_at_stop_;  // Ctrl-C so far when the trials were asked to stop; nothing: they were not
    std::optional<int> signal_exit_code_;
    bool is_leaving_ = false;
    bool is_job_ending_ = false;       // the Slurm job whose steps the attempts are
    std::set<std::size_t> forgotten_;  // trials whose last attempt ended so, without a newer checkpoint
};

}  // namespace

namespace {

// Overrides from the database's record of this sweep, where it has one.
PlannedReruns reruns_of(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options) {
    const auto reader = stored_results(options);
    const auto name = reader ? stored_name(*reader, spec) : std::nullopt;
    if (!name) return {trials, {}};
    return plan_reruns(
        trials,
        {reader->planned_sweep(*name), [&](const std::string& hash) { return is_trained(*reader, hash); },
         [&](const std::string& hash) { return *reader->trial(hash).config; }, selected_trials(trials, options.only)},
        options.rerun_if);
}

}  // namespace

RunSummary run_sweep(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options) {
    require_selected(spec, trials, options.only);
    const PlannedReruns planned = reruns_of(spec, trials, options);
    {
        Progress progress(options.progress, options.narration);
        for (const std::string& line : planned.said) options.dry_run ? progress.warning(line) : progress.event(line);
    }
    if (options.dry_run) return dry_run(spec, planned.trials, options);
    return Driver(spec, planned.trials, options).run();
}

}  // namespace deft::sweeps
