#include "sweeps/driver/overview.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "results_db/reader.h"
#include "sweeps/driver/multi_process.h"
#include "sweeps/driver/plan_notes.h"
#include "sweeps/driver/stored_results.h"
#include "sweeps/spec/select.h"

namespace deft::sweeps {

namespace {

// How many trials it has, and what they start from. What recipes share is counted once.
std::string stage_text(const Stage& stage, const std::vector<Trial>& trials) {
    std::set<std::string> trainings;
    for (const Trial& trial : trials)
        if (trial.stage == stage.name) trainings.insert(trial.config_hash);
    return counted(trainings.size(), "training") + (stage.from.empty() ? "" : ", from " + stage.from);
}

}  // namespace

bool is_trained(const results_db::Reader& reader, const std::string& config_hash) {
    try {
        return reader.trial(config_hash).state == "ok";
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;  // these results have no such trial
        return false;
    }
}

void Overview::add_left(const Trial& trial, bool is_trained) {
    if (is_trained)
        ++to_score;
    else if (experiments::is_imported(trial.config))
        ++to_import;
    else if (counted_.insert(trial.config_hash).second)  // two places of a sweep may share a training
        flops_left += trial.projection.flops;
}

void Overview::add_measured(const results_db::SweepPace& pace) {
    flops_per_second = pace.seconds > 0 ? pace.flops / pace.seconds : 0;
    merged = static_cast<std::size_t>(pace.merged);
}

std::vector<std::string> describe(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options,
                                  const Overview& overview) {
    std::vector<std::string> lines;
    std::string head = "sweep " + spec.name;
    if (!spec.title.empty()) head += " (" + reporting::visible(spec.title) + ")";
    lines.push_back(head + ", scale " + (spec.scale.empty() ? "as written" : spec.scale));

    std::string recipes;
    for (const Recipe& entry : spec.recipes) recipes += (recipes.empty() ? "" : ", ") + entry.name;
    lines.push_back(fmt::format("  recipes: {}", recipes));
    for (const std::string& note : spec.notes) lines.push_back("  " + reporting::visible(note));
    for (const std::string& note : schedule_notes(trials)) lines.push_back("  " + note);
    for (const Stage& stage : spec.stages) {
        if (spec.has_stages()) lines.push_back(fmt::format("  stage {}: {}", stage.name, stage_text(stage, trials)));
        for (const Axis& axis : stage.axes) {
            std::string values;
            for (const ConfigNode& value : axis.values) values += (values.empty() ? "" : ", ") + to_json(value).dump();
            const bool follows =
                axis.together != 0 && &axis != &stage.axes.front() && (&axis - 1)->together == axis.together;
            lines.push_back(fmt::format("  {}{} {}: {}", spec.has_stages() ? "  " : "", follows ? "with" : "axis",
                                        reporting::visible(axis.path), reporting::visible(values)));
        }
    }
    std::string selected;
    if (overview.selected != trials.size()) selected = fmt::format(", {} selected", overview.selected);
    std::string to_score;
    if (overview.to_score > 0) to_score = fmt::format(", {} to evaluate", overview.to_score);
    if (overview.to_import > 0) to_score += fmt::format(", {} to import", overview.to_import);
    lines.push_back(fmt::format("  {} with {}{}; {} already done{}", counted(trials.size(), "trial"),
                                counted(spec.seeds.size(), "seed"), selected, overview.done, to_score));
    if (overview.merged > 0)
        lines.push_back(fmt::format("  {} merged from another root, without checkpoints",
                                    counted(overview.merged, "trial was", "trials were")));

    if (overview.done + overview.to_score + overview.to_import < overview.selected) {
        std::string estimate = fmt::format("  to train: {} in {}", reporting::si(overview.flops_left, "FLOP"),
                                           describe_slots(options.slots, options.threads));
        if (overview.flops_per_second > 0) {
            const double devices = devices_a_trial(options.slots.front(), options.threads);
            const double trial_seconds = overview.flops_left / overview.flops_per_second;
            estimate += fmt::format(
                ", about {}", reporting::rough_seconds(trial_seconds / static_cast<double>(options.slots.size())));
            if (const auto& price = spec.price)
                estimate += " and " + reporting::dollars(trial_seconds * devices / 3600 * price->usd_per_hour);
            estimate += " at the speed measured here";
        } else {
            estimate += "; the time is estimated once the first trial runs";
        }
        lines.push_back(estimate);
        if (const std::string where = describe_launcher(options.launcher); !where.empty())
            lines.push_back("  trials run " + where);
        for (const std::string& note : {options.slots_note, options.asks_for_mps ? "" : taking_turns(options.slots)})
            if (!note.empty()) lines.push_back("  " + note);
    }
    return lines;
}

RunSummary dry_run(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options) {
    Overview overview;
    const auto reader = stored_results(options);
    const std::vector<char> selected = selected_trials(trials, options.only);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (selected[i] == 0) continue;
        const Trial& trial = trials[i];
        ++overview.selected;
        const bool trained = reader && is_trained(*reader, trial.config_hash);
        if (trial.is_left || (trained && reader->unscored(trial.config_hash, trial.score_keys()).empty()))
            ++overview.done;
        else
            overview.add_left(trial, trained);
    }
    if (reader)
        for (const std::string& name : reader->sweep_names())
            if (name == spec.name) overview.add_measured(reader->pace(name));
    Progress progress(options.progress, options.narration);
    for (const std::string& line : describe(spec, trials, options, overview)) progress.warning(line);
    RunSummary summary;
    summary.already_done = static_cast<int>(overview.done);
    summary.left = static_cast<int>(overview.selected - overview.done);
    return summary;
}

}  // namespace deft::sweeps
