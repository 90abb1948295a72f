#include "sweeps/driver/driver.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <random>
#include <set>

#include "base/counted.h"
#include "base/files.h"
#include "base/first_line.h"
#include "base/json.h"
#include "base/process.h"
#include "base/short_hash.h"
#include "experiments/prepare.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "sweeps/driver/dry_run.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/driver/overview.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/recovery.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/signals.h"
#include "sweeps/driver/take_in.h"
#include "sweeps/driver/trial_process.h"
#include "sweeps/driver/trial_pulse.h"
#include "sweeps/spec/price.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr int kPollMs = 200;
constexpr std::int64_t kIngestMs = 1000;
constexpr int kMostTries = 2;  // of one trial in one run
constexpr std::size_t kShownLogLines = 10;
constexpr int kOrphanGraceMs = 3000;
constexpr std::int64_t kWaitMs = 1000;  // for a trial that is to stop, before that is worth a line

std::int64_t steady_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::int64_t wall_clock_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string random_id() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

struct Running {
    std::size_t point = 0;
    int slot = 0;
    std::int64_t attempt = 0;
    std::int64_t number = 0;
    fs::path folder;
    pid_t pid = -1;
    std::int64_t started_ms = 0;  // steady clock
    std::int64_t total_steps = 0;
    bool told_start = false;
    std::optional<journal::TrainPoint> last_point;
    TrialPulse pulse{0};
    std::optional<std::int64_t> asked_ms;  // when it was asked to stop, steady clock
    std::string waited_for;                // what was last said of it while it is waited for
    std::string killed_because;
    bool hung = false;
};

struct Interrupted {};

class Driver {
 public:
    Driver(const Spec& spec, const std::vector<Point>& points, const DriverOptions& options)
        : spec_(spec),
          points_(points),
          options_(options),
          progress_(options.progress, options.narration),
          writer_((make_folder(options.root), database_file(options.root))),
          tries_(points.size(), 0),
          id_(random_id()) {
        if (const auto price = price_for(spec)) usd_per_hour_ = price->usd_per_hour;
    }

    // A child must never outlive the driver that would have to record its end.
    ~Driver() {
        if (!running_.empty()) end_children();
    }

    RunSummary run() {
        recorded_ = record_sweep(writer_, spec_, points_, options_);
        for (const std::string& line : recover(writer_, options_.root, kOrphanGraceMs)) progress_.event(line);
        take_in_what_is_left();
        fill_queue();
        announce();
        if (queue_.empty()) return summary_;
        require_that_all_fit();
        try {
            prepare_data();
            loop();
        } catch (const Error&) {
            // Most often a full disk. What the trials wrote so far is in their journals.
            const std::size_t count = running_.size();
            if (count > 0) end_children();
            progress_.finish();
            progress_.warning(fmt::format("{} running trial{} ended; once this is mended, go on with: {}", count,
                                          count == 1 ? " was" : "s were", options_.continue_with));
            throw;
        }
        progress_.finish();
        return conclude();
    }

 private:
    void fill_queue() {
        for (const std::size_t i : execution_order(points_, spec_.sha256)) {
            if (!is_asked_for(points_[i], options_)) continue;
            if (writer_.is_done(recorded_.experiments[i]))
                ++summary_.already_done;
            else
                queue_.push_back(i);
        }
    }

    void take_in_what_is_left() {
        std::vector<std::size_t> wanted;
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (is_asked_for(points_[i], options_)) wanted.push_back(i);
        for (const std::string& line : take_in_finished(writer_, options_.root, points_, wanted, recorded_))
            progress_.event(line);
    }

    void announce() {
        Overview overview;
        overview.selected = queue_.size() + static_cast<std::size_t>(summary_.already_done);
        overview.done = static_cast<std::size_t>(summary_.already_done);
        for (const std::size_t i : queue_) overview.flops_left += points_[i].projection.flops;
        overview.slots = options_.slots.size();
        overview.slots_text = describe_slots(options_.slots, options_.threads);
        overview.devices = devices_a_trial(options_.slots.front(), options_.threads);
        overview.flops_per_second = measured_rate(results_db::Reader(database_file(options_.root)).sweep(spec_.name));
        for (const std::string& line : describe(spec_, points_, overview)) progress_.event(line);
        if (queue_.empty()) progress_.event("everything was finished already");
        warn_of_limits();
    }

    void warn_of_limits() {
        std::vector<Point> left;
        for (const std::size_t i : queue_) left.push_back(points_[i]);
        for (const std::string& line :
             exceeded_limits(left, options_.slots.front().device, options_.slots.size(), this_machine(options_.root),
                             options_.root))
            progress_.warning(line);
    }

    // What several trials share is made once, before them, with the user watching.
    void prepare_data() {
        std::string said;
        const auto say = [&](const std::string& what, double) {
            if (signals_.terminated() || signals_.interrupts() > 0) throw Interrupted{};
            if (what != said) progress_.event(fmt::format("data    {}", what));
            said = what;
        };
        std::set<std::string> seen;
        try {
            for (const std::size_t i : queue_) {
                const experiments::TrialConfig& config = points_[i].config;
                std::string key = config.data.sha256;
                if (config.curriculum)
                    for (const auto& metric : config.curriculum->metrics)
                        key += fmt::format(" {} {} {}", metric.metric, config.model.seqlen, metric.column_sha256);
                if (seen.insert(key).second) experiments::prepare_data(config, data_folder(), say);
            }
        } catch (const Interrupted&) {
            draining_ = true;
            stopped_by_ = signals_.terminated() ? kExitWorkLeft : 128 + SIGINT;
        }
    }

    void loop() {
        started_ms_ = steady_ms();
        while (true) {
            heed_signals();
            while (!draining_ && start_next()) {
            }
            if (running_.empty()) return;
            if (!reap()) {
                ingest_all();
                end_the_hung();
                progress_.update(view());
                signals_.sleep_ms(kPollMs);
            }
        }
    }

    void heed_signals() {
        if (stop_interrupts_) {
            end_the_late();
        } else if (signals_.terminated() || signals_.interrupts() > 1) {
            stopped_by_ = signals_.terminated() ? kExitWorkLeft : 128 + SIGINT;
            draining_ = true;
            if (!running_.empty())
                progress_.warning("stopping: the running trials save a checkpoint and end. Ctrl-C once more kills them");
            ask_to_stop();
        } else if (signals_.interrupts() == 1 && !draining_) {
            draining_ = true;
            progress_.warning(
                fmt::format("draining: {} will finish, {} will not start. "
                            "Ctrl-C again stops at once. To go on later: {}",
                            counted(running_.size(), "running trial"), queue_.size(), options_.continue_with));
        }
    }

    void ask_to_stop() {
        stop_interrupts_ = signals_.interrupts();
        for (Running& child : running_) {
            ask_group_to_end(child.pid);
            child.asked_ms = steady_ms();
        }
    }

    // Kills what was asked to stop and has not within its grace, or what the user does not want to wait for.
    void end_the_late() {
        const bool impatient = signals_.interrupts() > *stop_interrupts_;
        for (Running& child : running_) {
            if (!child.asked_ms || !child.killed_because.empty()) continue;
            child.pulse.look(child.folder / "journal.jsonl");
            const auto waited = steady_ms() - *child.asked_ms;
            const double grace = points_[child.point].config.checkpoint.grace_seconds;
            if (impatient)
                kill(child, "it was killed before it had saved a checkpoint");
            else if (static_cast<double>(waited) > 1000 * grace)
                kill(child, fmt::format("it was killed, for it had not saved a checkpoint within {} s "
                                        "([checkpoint] grace_seconds)",
                                        grace));
            else if (child.pulse.overdue() > 0)
                kill(child, "it was killed, for it did not answer");
            else if (waited > kWaitMs && child.waited_for != child.pulse.doing()) {
                child.waited_for = child.pulse.doing();
                progress_.event(fmt::format("waiting for {}: {}; {:.0f} s of at most {}", name_of(child),
                                            reporting::visible(child.waited_for), static_cast<double>(waited) / 1000,
                                            grace));
            }
        }
    }

    void end_the_hung() {
        for (Running& child : running_) {
            if (child.asked_ms || !child.killed_because.empty()) continue;
            child.pulse.look(child.folder / "journal.jsonl");
            if (child.pulse.overdue() < options_.hang_seconds) continue;
            child.hung = true;
            kill(child, fmt::format("it hung: nothing came of it for {:.0f} s more than it had promised ({})",
                                    child.pulse.overdue(), child.pulse.doing()));
        }
    }

    void kill(Running& child, const std::string& why) {
        child.killed_because = why;
        progress_.warning(fmt::format("{}: {}", name_of(child), reporting::visible(why)));
        ::kill(-child.pid, SIGKILL);
    }

    // The first trial of the queue that fits a free slot. False: none does.
    bool start_next() {
        for (std::size_t slot = 0; slot < options_.slots.size(); ++slot) {
            if (is_busy(slot)) continue;
            const auto fitting = std::find_if(queue_.begin(), queue_.end(), [&](std::size_t index) {
                return fits(points_[index], options_.slots[slot]);
            });
            if (fitting == queue_.end()) continue;
            const std::size_t index = *fitting;
            queue_.erase(fitting);
            start(index, static_cast<int>(slot));
            return true;
        }
        return false;
    }

    void start(std::size_t index, int slot_number) {
        const Point& point = points_[index];
        const Slot& slot = options_.slots[static_cast<std::size_t>(slot_number)];
        Running child;
        child.point = index;
        child.pulse = TrialPulse(options_.start_seconds);
        child.slot = slot_number;
        child.number = writer_.next_attempt_number(recorded_.experiments[index]);
        // Checkpoints of a database that is gone have no curve to go on from.
        const bool may_resume = child.number > 1;
        choose_folder(child);
        make_folder(child.folder);

        const std::vector<std::string> argv = {options_.trial_program.string(), "trial", child.folder.string()};
        const results_db::NewAttempt attempt = attempt_of(child, argv);
        const experiments::TrialPlaces places = {child.folder, data_folder(),
                                                 checkpoint_folder(options_.root, point.config_hash), may_resume};
        write_trial_file(point, spec_.name, attempt, recorded_.provenance, places, {slot.device, options_.threads});
        child.attempt = writer_.begin_attempt(recorded_.experiments[index], recorded_.code, recorded_.host, attempt);
        ++tries_[index];
        try {
            child.pid = start_process(argv, child.folder / "log.txt", environment_of(slot), kWatchedSignals);
        } catch (const Error& error) {
            // No trial would start then: this is the sweep's end, not the trial's.
            writer_.end_attempt(child.attempt, {"failed", "io", {}, {}, error.what(), 0, 0});
            throw;
        }
        child.started_ms = steady_ms();
        running_.push_back(child);
        writer_.set_running(child.attempt, identify(child.pid), wall_clock_ms());
        progress_.event(fmt::format("start   {}  ({})", name_of(child), child.folder.filename().string()));
    }

    // A folder may be left of a database that is gone; what stands in it is not ours to overwrite.
    void choose_folder(Running& child) const {
        const std::string hash = short_hash(points_[child.point].config_hash);
        do {
            child.folder = options_.root / "runs" / fmt::format("{}.{}", hash, child.number);
        } while (fs::exists(child.folder) && ++child.number > 0);
    }

    results_db::NewAttempt attempt_of(const Running& child, const std::vector<std::string>& argv) {
        results_db::NewAttempt attempt;
        attempt.uid = fmt::format("{}-{}", id_, ++attempts_begun_);
        attempt.number = child.number;
        attempt.worker = fmt::format("{}/{}", id_, child.slot);
        attempt.slots_json = canonical_json(slot_json(options_.slots[static_cast<std::size_t>(child.slot)], child.slot));
        attempt.argv_json = canonical_json(argv);
        attempt.workdir = "runs/" + child.folder.filename().string();
        attempt.shape = shape_of(options_.slots[static_cast<std::size_t>(child.slot)], options_.threads);
        attempt.price = price_for(spec_);
        attempt.libraries_json = recorded_.libraries_json;
        attempt.machine_json = recorded_.machine_json;
        return attempt;
    }

    fs::path data_folder() const { return options_.root / "data"; }

    bool is_busy(std::size_t slot) const {
        return std::any_of(running_.begin(), running_.end(),
                           [&](const Running& child) { return child.slot == static_cast<int>(slot); });
    }

    Json slot_json(const Slot& slot, int number) const {
        Json json = {{"slot", number}, {"device", engine::device_name(slot.device)}, {"threads", options_.threads}};
        if (slot.device == engine::Device::cuda)
            json.update({{"gpu", slot.gpu_uuid}, {"gpu_name", slot.gpu_name}, {"per_gpu", slot.per_gpu}});
        return json;
    }

    // Of several GPUs a trial sees its own alone.
    static std::vector<std::string> environment_of(const Slot& slot) {
        if (slot.device == engine::Device::cpu) return {};
        return {"CUDA_VISIBLE_DEVICES=" + slot.gpu_uuid};
    }

    // Errors: config or memory, naming the first trial that no slot can run.
    void require_that_all_fit() const {
        for (const std::size_t index : queue_) require_fit(points_[index], options_.slots);
    }

    std::string name_of(const Running& child) const { return reporting::visible(points_[child.point].name()); }

    // Takes note of children that have ended; true where one had.
    bool collect_ended() {
        bool any = false;
        for (std::size_t i = 0; i < running_.size();) {
            const Running& child = running_[i];
            siginfo_t ended{};
            const auto id = static_cast<id_t>(child.pid);
            if (::waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) {
                ++i;
                continue;
            }
            // Helpers that a trial may have started end with it: as long as it has not been waited for, the number of
            // its group cannot be anybody else's.
            ::kill(-child.pid, SIGKILL);
            ChildEnd end;
            while (::wait4(child.pid, &end.wait_status, 0, &end.usage) < 0 && errno == EINTR) {
            }
            end.asked_to_stop = child.asked_ms.has_value();
            end.killed_because = child.killed_because;
            end.hung = child.hung;
            ended_.emplace_back(child, end);
            running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
            any = true;
        }
        return any;
    }

    bool reap() {
        if (!collect_ended()) return false;
        const long kills = memory_kills();
        for (auto& [child, end] : std::exchange(ended_, {})) {
            end.kernel_killed_for_memory = kills > memory_kills_;
            finish(child, end);
        }
        memory_kills_ = kills;
        return true;
    }

    // Ends all children, without the database, and leaves them in ended_.
    void end_children() {
        if (!stop_interrupts_) ask_to_stop();
        while (!running_.empty()) {
            end_the_late();
            if (!collect_ended()) signals_.sleep_ms(kPollMs);
        }
    }

    void take_in(Running& child) {
        std::string damage;
        const auto fresh = ingest_or_explain(writer_, child.attempt, child.folder / "journal.jsonl", damage);
        if (!fresh) {
            // Its numbers cannot be trusted any more; the reaper records why.
            ::kill(-child.pid, SIGKILL);
            return;
        }
        if (fresh->started) {
            child.total_steps = fresh->started->total_steps;
            tell_resume(child, *fresh->started);
            child.told_start = true;
        }
        if (fresh->last_point) child.last_point = fresh->last_point;
    }

    void tell_resume(const Running& child, const journal::Started& started) {
        if (!started.note.empty())
            progress_.warning(fmt::format("{}: {}", name_of(child), reporting::visible(started.note)));
        if (started.resume_step > 0)
            progress_.event(fmt::format("resume  {}  from step {}", name_of(child), started.resume_step));
    }

    void ingest_all() {
        if (steady_ms() - last_ingest_ms_ < kIngestMs) return;
        for (Running& child : running_) take_in(child);
        last_ingest_ms_ = steady_ms();
    }

    void finish(Running child, const ChildEnd& end) {
        const JournalSummary journal = ingest_rest(writer_, child.attempt, child.folder / "journal.jsonl");
        const results_db::Outcome outcome = classify(end, journal);
        if (journal.started && !child.told_start) tell_resume(child, *journal.started);
        record_end(writer_, child.attempt, child.folder, outcome, journal);

        const double seconds = static_cast<double>(steady_ms() - child.started_ms) / 1000;
        device_seconds_ += seconds * devices_a_trial(options_.slots.front(), options_.threads);
        if (journal.last_point) flops_done_ += journal.last_point->flops;
        const std::string name = name_of(child);
        if (outcome.state == "ok") {
            ++summary_.ok;
            std::string text = fmt::format("ok      {}  {}", name, reporting::rough_seconds(seconds));
            if (journal.last_point) text += fmt::format("  train loss {:.4f}", journal.last_point->loss);
            progress_.event(text);
            return;
        }
        // Stopped by us, or by somebody who wants the machine: neither is the trial's fault, and it can go on.
        if (outcome.state == "cancelled" || outcome.state == "preempted") {
            queue_.push_front(child.point);
            --tries_[child.point];
            progress_.event(fmt::format("stopped {}{}", name, outcome.state == "preempted" ? "  (it will go on)" : ""));
            return;
        }
        tell_failure(child, name, outcome);
        if (worth_another_try(outcome) && tries_[child.point] < kMostTries && !draining_) {
            progress_.event(fmt::format("retry   {}", name));
            queue_.push_front(child.point);
            return;
        }
        ++summary_.failed;
        if (options_.fail_fast && !draining_) {
            draining_ = true;
            progress_.warning(
                fmt::format("--fail-fast: no trial starts any more, {} running will finish", running_.size()));
        }
    }

    void tell_failure(const Running& child, const std::string& name, const results_db::Outcome& outcome) {
        // What follows the first line stands in the log as well.
        std::string text = fmt::format("failed  {}  ({}): {}", name, outcome.fail_class,
                                       reporting::visible(first_line(outcome.error)));
        const fs::path log = child.folder / "log.txt";
        const std::vector<std::string> lines = last_lines(log, kShownLogLines);
        if (!lines.empty()) text += fmt::format("\n  last lines of {}:", log.string());
        for (const std::string& line : lines) text += "\n    " + line;
        progress_.warning(text);
    }

    ProgressView view() const {
        ProgressView view;
        view.sweep = spec_.name;
        view.done = summary_.already_done + summary_.ok;
        view.running = static_cast<int>(running_.size());
        view.failed = summary_.failed;
        view.left = static_cast<int>(queue_.size());
        view.draining = draining_;
        view.elapsed_seconds = static_cast<double>(steady_ms() - started_ms_) / 1000;
        view.slots.resize(options_.slots.size());
        double flops_done = flops_done_, flops_left = 0, device_seconds = device_seconds_;
        if (!draining_)
            for (const std::size_t i : queue_) flops_left += points_[i].projection.flops;
        for (const Running& child : running_) {
            SlotView& slot = view.slots[static_cast<std::size_t>(child.slot)];
            slot.busy = true;
            slot.label = points_[child.point].name();
            slot.total_steps = child.total_steps;
            device_seconds += static_cast<double>(steady_ms() - child.started_ms) / 1000 *
                              devices_a_trial(options_.slots.front(), options_.threads);
            double flops_to_go = points_[child.point].projection.flops;
            if (child.last_point) {
                slot.step = child.last_point->step;
                slot.loss = child.last_point->loss;
                slot.tokens_per_second = child.last_point->tokens_per_second;
                flops_done += child.last_point->flops;
                flops_to_go = std::max(0.0, flops_to_go - child.last_point->flops);
                if (child.last_point->flops > 0)
                    slot.seconds_left =
                        flops_to_go / child.last_point->flops * static_cast<double>(child.last_point->wall_ms) / 1000;
            }
            flops_left += flops_to_go;
        }
        if (flops_done > 0) view.seconds_left = flops_left / flops_done * view.elapsed_seconds;
        if (usd_per_hour_) view.usd = device_seconds / 3600 * *usd_per_hour_;
        return view;
    }

    RunSummary conclude() {
        summary_.left = static_cast<int>(queue_.size());
        summary_.exit_code = kExitOk;
        if (summary_.left > 0) summary_.exit_code = kExitWorkLeft;
        if (summary_.failed > 0 && (summary_.left == 0 || options_.fail_fast)) summary_.exit_code = kExitFailed;
        if (stopped_by_ != 0) summary_.exit_code = stopped_by_;
        std::string text = fmt::format("{} ok", summary_.ok);
        if (summary_.already_done > 0) text += fmt::format(", {} done before", summary_.already_done);
        if (summary_.failed > 0) text += fmt::format(", {} failed", summary_.failed);
        if (summary_.left > 0) text += fmt::format(", {} left", summary_.left);
        text += " in " + reporting::rough_seconds(static_cast<double>(steady_ms() - started_ms_) / 1000);
        progress_.event(summary_.left > 0 ? fmt::format("{}; to go on: {}", text, options_.continue_with) : text);
        return summary_;
    }

    const Spec& spec_;
    const std::vector<Point>& points_;
    const DriverOptions& options_;
    SignalWatch signals_;
    Progress progress_;
    results_db::Writer writer_;
    RecordedSweep recorded_;
    std::vector<int> tries_;  // by point
    std::string id_;
    std::int64_t attempts_begun_ = 0;
    std::optional<double> usd_per_hour_;
    std::deque<std::size_t> queue_;
    std::vector<Running> running_;
    std::vector<std::pair<Running, ChildEnd>> ended_;
    bool draining_ = false;
    int stopped_by_ = 0;  // the exit code of a signal
    std::optional<int> stop_interrupts_;  // Ctrl-C so far when the trials were asked to stop; nothing: they were not
    std::int64_t started_ms_ = 0, last_ingest_ms_ = 0;
    long memory_kills_ = memory_kills();
    double flops_done_ = 0, device_seconds_ = 0;
    RunSummary summary_;
};

}  // namespace

fs::path database_file(const fs::path& root) {
    return root / "results.db";
}

bool is_asked_for(const Point& point, const DriverOptions& options) {
    const std::vector<std::string>& only = options.only;
    return only.empty() || std::find(only.begin(), only.end(), point.case_name) != only.end();
}

fs::path checkpoint_folder(const fs::path& root, const std::string& config_hash) {
    return root / "checkpoints" / config_hash.substr(0, 16);
}

RunSummary run_sweep(const Spec& spec, const std::vector<Point>& points, const DriverOptions& options) {
    require_cases(spec, options.only);
    for (const Point& point : points) experiments::require_model(point.config);
    if (options.dry_run) return dry_run(spec, points, options);
    return Driver(spec, points, options).run();
}

}  // namespace deft::sweeps
