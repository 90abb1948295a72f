#include "sweeps/driver/narration.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::sweeps {

namespace {

constexpr std::size_t kShownLogLines = 10;

// A running trial's line, and its remaining FLOPs.
SlotView slot_of(const Child& child, const Trial& trial, double& flops_to_go) {
    SlotView slot;
    slot.busy = true;
    slot.label = trial.name();
    slot.is_queued = !child.has_begun;
    slot.waits_for = child.waits_for;
    slot.total_steps = child.total_steps;
    flops_to_go = child.work == results_db::Work::train ? trial.projection.flops : 0;
    if (!child.last_point) return slot;
    const journal::TrainPoint& last = *child.last_point;
    slot.step = last.step;
    slot.loss = last.loss;
    slot.tokens_per_second = last.tokens_per_second;
    flops_to_go = std::max(0.0, flops_to_go - last.flops);
    if (last.flops > 0) slot.seconds_left = flops_to_go / last.flops * static_cast<double>(last.wall_ms) / 1000;
    return slot;
}

}  // namespace

ProgressView view_of(const RunState& state, const Spec& spec, const std::vector<Trial>& trials,
                     const DriverOptions& options) {
    ProgressView view;
    view.sweep = spec.name;
    view.done = state.summary.already_done + state.summary.ok;
    view.queued = static_cast<int>(std::ranges::count(state.running, false, &Child::has_begun));
    view.running = static_cast<int>(state.running.size()) - view.queued;
    view.failed = state.summary.failed;
    view.left = static_cast<int>(state.queue.waiting.size());
    view.draining = state.draining;
    view.elapsed_seconds = seconds_since(state.started);
    view.slots.resize(options.slots.size());
    const double devices = devices_a_trial(options.slots.front(), options.threads);
    double flops_done = state.flops_done, flops_left = 0, device_seconds = state.device_seconds;
    if (!state.draining)
        for (const std::size_t trial : state.queue.waiting)
            if (!state.trained.contains(trial)) flops_left += trials[trial].projection.flops;
    for (const Child& child : state.running) {
        double flops_to_go = 0;
        view.slots[child.slot] = slot_of(child, trials[child.trial], flops_to_go);
        flops_left += flops_to_go;
        if (child.last_point) flops_done += child.last_point->flops;
        if (child.work == results_db::Work::train && child.has_begun)
            device_seconds += seconds_since(child.started) * devices;
    }
    if (flops_done > 0) view.seconds_left = flops_left / flops_done * view.elapsed_seconds;
    if (spec.price) view.usd = device_seconds / 3600 * spec.price->usd_per_hour;
    return view;
}

void report_resume(const Child& child, const journal::Started& started, Progress& progress) {
    if (!started.note.empty()) progress.warning(fmt::format("{}: {}", child.name, reporting::visible(started.note)));
    if (started.resume_step > 0 && child.work == results_db::Work::train)
        progress.event(fmt::format("resume  {}  from step {}", child.name, started.resume_step));
}

void report_finished(const Child& child, bool imports, const EndedTraining& training, Progress& progress) {
    std::string text = fmt::format("{} {}  {}", imports ? "imported" : "done   ", child.name,
                                   reporting::rough_seconds(training.seconds));
    if (training.loss) text += fmt::format("  train loss {:.4f}", *training.loss);
    progress.event(text);
}

void report_failure(const Child& child, const results_db::Outcome& outcome, Progress& progress) {
    // Later lines are in the log as well.
    std::string text = fmt::format("failed  {}  ({}): {}", child.name, outcome.fail_class,
                                   reporting::visible(first_line(outcome.error)));
    const std::filesystem::path log = child.folder / "log.txt";
    const std::vector<std::string> lines = last_lines(log, kShownLogLines);
    if (!lines.empty()) text += fmt::format("\n  last lines of {}:", log.string());
    for (const std::string& line : lines) text += "\n    " + line;
    progress.warning(text);
}

std::string conclusion(const RunState& state, const DriverOptions& options) {
    const RunSummary& summary = state.summary;
    std::string text = fmt::format("{} ok", summary.ok);
    if (summary.already_done > 0) text += fmt::format(", {} already done", summary.already_done);
    if (summary.failed > 0) text += fmt::format(", {} failed", summary.failed);
    if (summary.blocked > 0) text += fmt::format(", {} blocked", summary.blocked);
    if (summary.left > 0) text += fmt::format(", {} left", summary.left);
    text += " in " + reporting::rough_seconds(seconds_since(state.started));
    return summary.left > 0 ? fmt::format("{}; to continue: {}", text, options.continue_with) : text;
}

}  // namespace deft::sweeps
