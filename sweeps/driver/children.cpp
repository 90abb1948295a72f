#include "sweeps/driver/children.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "experiments/checkpoint_owner.h"
#include "experiments/checkpoints.h"
#include "reporting/text.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/stop_file.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr double kWaitSeconds = 1;  // for a trial that is to stop, before that is worth a line

Json slot_json(const Slot& slot, std::size_t number, int threads) {
    Json json = {{"slot", number}, {"device", engine::device_name(slot.device)}, {"threads", threads}};
    if (slot.device == engine::Device::cuda)
        json.update({{"gpus", slot.gpu_uuids}, {"gpu_name", slot.gpu_name}, {"per_gpu", slot.per_gpu}});
    if (slot.nodes > 1) json["nodes"] = slot.nodes;
    return json;
}

// With several GPUs, a trial sees its own alone, in the order of its ranks.
std::vector<std::string> environment_of(const Slot& slot) {
    if (slot.device == engine::Device::cpu) return {};
    if (slot.gpu_uuids.empty()) return {};  // Slurm chooses the cards
    return {fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(slot.gpu_uuids, ","))};
}

results_db::NewAttempt new_attempt(TrialStarter& starter, std::int64_t number, std::size_t slot_number,
                                   const fs::path& folder, const std::vector<std::string>& argv) {
    const Slot& slot = starter.options.slots[slot_number];
    const int threads = starter.options.threads;
    results_db::NewAttempt attempt;
    attempt.uid = fmt::format("{}-{}", starter.driver_uid, ++starter.attempts_begun);
    attempt.number = number;
    attempt.worker = fmt::format("{}/{}", starter.driver_uid, slot_number);
    attempt.slots_json = canonical_json(slot_json(slot, slot_number, threads));
    attempt.argv_json = canonical_json(argv);
    attempt.workdir = "runs/" + folder.filename().string();
    attempt.shape = shape_of(slot, threads);
    attempt.price = starter.spec.price;
    attempt.libraries_json = starter.recorded.libraries_json;
    attempt.machine_json = starter.recorded.machine_json;
    return attempt;
}

void kill(Child& child, const std::string& why, Launcher& launcher, Progress& progress) {
    child.killed_because = why;
    progress.warning(fmt::format("{}: {}", child.name, reporting::visible(why)));
    launcher.end(child.run);
}

}  // namespace

namespace {

Child new_child(const Trial& trial, std::size_t place, std::size_t slot, results_db::Work work,
                const DriverOptions& options) {
    Child child;
    child.trial = place;
    child.work = work;
    child.slot = slot;
    child.name = reporting::visible(trial.name());
    child.pulse = TrialPulse(options.start_seconds);
    child.grace_seconds = trial.config.checkpoint.grace_seconds;
    child.first_checkpoint = experiments::newest_checkpoint(checkpoint_folder(options.root, trial.config_hash));
    return child;
}

// A time of this machine's calendar clock as one of the steady clock, which began with the machine.
Clock::time_point steady_time(std::int64_t time_ms) {
    return Clock::now() - std::chrono::milliseconds(std::max<std::int64_t>(0, now_ms() - time_ms));
}

}  // namespace

Child adopted_child(const AdoptedAttempt& adopted, const Trial& trial, std::size_t slot, const DriverOptions& options) {
    Child child = new_child(trial, adopted.place, slot, adopted.attempt.work, options);
    child.attempt = adopted.attempt.id;
    child.folder = below_root(options.root, adopted.attempt.workdir);
    child.run = adopted.run;
    child.is_adopted = true;
    child.was_cancelled = has_stop_file(child.folder);
    child.launched = child.started = steady_time(adopted.attempt.started_ms);
    if (const std::optional<Claim> claim = read_claim(child.folder); claim && claim->time_ms > 0) {
        child.has_begun = true;
        child.started = std::max(child.launched, steady_time(claim->time_ms));
    }
    return child;
}

Child start_trial(TrialStarter& starter, const std::vector<Trial>& trials, std::size_t place, std::size_t slot_number,
                  const Assignment& assignment) {
    const Trial& trial = trials[place];
    const DriverOptions& options = starter.options;
    const Slot& slot = options.slots[slot_number];
    const std::int64_t trial_id = starter.recorded.trial_ids[place];
    std::int64_t number = starter.writer.next_attempt_number(trial_id);
    // Checkpoints of a database that is gone have no curve to go on from.
    const bool may_resume = starter.writer.trainings(trial_id) > 0;
    Child child = new_child(trial, place, slot_number, assignment.work, options);
    child.folder = free_run_folder(options.root, trial.config_hash, number);
    make_folder(child.folder);

    // One process stores an imported model.
    const bool is_import = assignment.work == results_db::Work::train && experiments::is_imported(trial.config);
    const int nodes = is_import ? 1 : slot.nodes, ranks = slot.ranks * nodes / slot.nodes;
    const LaunchRequest request = {child.folder,
                                   {options.trial_program.string(), "trial", child.folder.string()},
                                   environment_of(slot),
                                   options.threads * ranks,
                                   slot.device == engine::Device::cuda ? ranks : 0,
                                   trial.config.checkpoint.grace_seconds,
                                   nodes,
                                   nodes > 1 ? ranks : 1,
                                   starter.projected_seconds(trial, assignment.work)};
    results_db::NewAttempt attempt =
        new_attempt(starter, number, slot_number, child.folder, starter.launcher.command(request));
    attempt.launcher = starter.launcher.name();
    attempt.work = assignment.work;
    experiments::TrialPlaces places = {child.folder, data_folder(options.root),
                                       checkpoint_folder(options.root, trial.config_hash), may_resume,
                                       assignment.start};
    if (may_resume) places.covered_step = starter.writer.last_step(trial_id);
    experiments::TrialSlot own_slot = {slot.device, options.threads};
    own_slot.memory_bytes = memory_limit(slot);
    write_trial_file(trial, starter.spec.name, attempt, starter.recorded.provenance, places, assignment, own_slot,
                     starter.launcher.starts_children(), is_import ? RankHosts{} : options.hosts);
    if (assignment.work == results_db::Work::train)
        experiments::own_checkpoints(places.checkpoint_folder, child.folder.filename().string());
    child.attempt = starter.writer.begin_attempt(trial_id, starter.recorded.code, starter.recorded.host, attempt);
    try {
        child.run = starter.launcher.start(request);
    } catch (const Error& error) {
        starter.writer.end_attempt(child.attempt, {"failed", "io", {}, {}, error.what(), 0, 0});
        throw;
    }
    child.launched = child.started = Clock::now();
    child.has_begun = starter.launcher.starts_children();
    if (child.has_begun) child.phase = RunPhase::running;
    return child;
}

void ask_to_stop(std::vector<Child>& running, StopCause cause, Launcher& launcher) {
    for (Child& child : running) {
        launcher.ask_to_end(child.run);
        child.asked = Clock::now();
        child.asked_by = cause;
    }
}

void kill_overdue(std::vector<Child>& running, bool is_impatient, Launcher& launcher, Progress& progress) {
    for (Child& child : running) {
        if (!child.asked || !child.killed_because.empty()) continue;
        child.pulse.look(child.journal());
        const double waited = seconds_since(*child.asked);
        if (is_impatient) {
            kill(child, "it was killed before it had saved what it had done", launcher, progress);
        } else if (waited > child.grace_seconds) {
            kill(child,
                 fmt::format("it was killed, for it had not saved what it had done within {} s "
                             "([checkpoint] grace_seconds)",
                             child.grace_seconds),
                 launcher, progress);
        } else if (child.pulse.overdue() > 0) {
            kill(child, "it was killed, for it did not answer", launcher, progress);
        } else if (waited > kWaitSeconds && child.waited_for != child.pulse.doing()) {
            child.waited_for = child.pulse.doing();
            progress.event(fmt::format("waiting for {}: {}; {:.0f} s of at most {}", child.name,
                                       reporting::visible(child.waited_for), waited, child.grace_seconds));
        }
    }
}

void kill_hung(std::vector<Child>& running, double hang_seconds, Launcher& launcher, Progress& progress) {
    for (Child& child : running) {
        if (child.asked || !child.killed_because.empty()) continue;
        if (child.phase != RunPhase::running) child.pulse.rest();
        child.pulse.look(child.journal());
        if (child.pulse.overdue() < 0) continue;
        // A node whose network was cut may never report an end to the batch system.
        if (child.pulse.has_ended() && !launcher.starts_children()) {
            kill(child, "its journal ended, and the batch system has not reported its end", launcher, progress);
            continue;
        }
        if (child.pulse.overdue() < hang_seconds) continue;
        child.hung = true;
        kill(child,
             fmt::format("it hung: no progress for {:.0f} s beyond its announced pause ({})", child.pulse.overdue(),
                         child.pulse.doing()),
             launcher, progress);
    }
}

std::vector<EndedChild> take_ended(std::vector<Child>& running, Launcher& launcher) {
    std::vector<EndedChild> ended;
    for (const auto& [run, status] : launcher.look()) {
        const auto child = std::ranges::find(running, run, &Child::run);
        if (child == running.end()) continue;
        if (status.phase == RunPhase::running && !std::exchange(child->has_begun, true)) child->started = Clock::now();
        child->phase = status.phase;
        child->was_live |= status.phase == RunPhase::waiting || status.phase == RunPhase::running;
        child->waits_for = status.reason;
        if (!status.host.empty()) child->host = status.host;
        if (status.phase != RunPhase::ended) continue;
        ChildEnd end;
        end.wait_status = status.wait_status;
        end.usage = status.usage;
        end.batch_end = status.batch_end;
        end.batch_words = status.batch_words;
        // One that never began held nothing.
        if (!child->has_begun && status.host.empty()) child->started = Clock::now();
        end.held_seconds = seconds_since(child->started);
        if (!launcher.starts_children())
            end.queue_seconds = std::chrono::duration<double>(child->started - child->launched).count();
        end.ended_ms = now_ms();
        end.asked_by = child->asked_by;
        end.killed_because = child->killed_because;
        end.hung = child->hung;
        ended.push_back({*child, end});
        running.erase(child);
    }
    return ended;
}

}  // namespace deft::sweeps
