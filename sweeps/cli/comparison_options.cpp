#include "sweeps/cli/comparison_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "experiments/model_presets.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/comparison_report.h"
#include "sweeps/gate/preset_steps.h"

namespace deft::cli {

void add_comparison_options(CLI::App& command, ComparisonOptions& options) {
    add_patterns(command, options.patterns);
    command
        .add_option("--preset", options.presets,
                    "Compare training steps of a model of experiments/presets; may be given again")
        ->allow_extra_args(false);
    add_threads(command, options.threads, "Threads of each program");
    add_number(command, "--pairs", options.first_look,
               "Pairs at the first look; two more looks come at twice and at four times as many", 10, 1000);
    add_number(command, "--launches", options.launches, "Launches of both programs before the first look", 3, 1000);
    add_number(command, "--margin", options.margin,
               "By how much a case must be slower to be a regression, as a fraction", 0.001, 10.0);
    command.add_option("--seed", options.seed, "Seed of the order within pairs; without it one is drawn and printed");
}

std::vector<std::string> all_patterns(const ComparisonOptions& options) {
    std::vector<std::string> patterns = options.patterns;
    const std::vector<std::string> known = experiments::model_presets();
    for (const std::string& preset : options.presets) {
        if (std::find(known.begin(), known.end(), preset) == known.end())
            throw Error(ErrorKind::usage, fmt::format("no model preset is named \"{}\"", preset),
                        suggestion(preset, known));
        patterns.push_back(sweeps::kStepCases + preset);
    }
    return patterns;
}

sweeps::ComparisonSettings settings_of(const ComparisonOptions& options) {
    sweeps::ComparisonSettings settings;
    settings.threads = options.threads;
    settings.launches = options.launches;
    settings.rule.margin = options.margin;
    settings.rule.looks = {options.first_look, 2 * options.first_look, 4 * options.first_look};
    settings.seed = seed_or_drawn(options.seed);
    return settings;
}

reporting::CheckReport compare_and_print(const sweeps::ComparedPrograms& programs, const sweeps::ComparisonNames& names,
                                         const ComparisonOptions& options, const GateOptions& gate,
                                         const std::vector<std::string>& notes, const std::string& base_sha,
                                         const std::string& head_sha) {
    const sweeps::ComparisonSettings settings = settings_of(options);
    sweeps::KnownArms arms = sweeps::know(programs, all_patterns(options));
    if (!base_sha.empty()) arms.base.git_sha = base_sha;
    if (!head_sha.empty()) arms.head.git_sha = head_sha;
    std::optional<sweeps::BenchRecorder> recorder;
    if (!gate.dry_run) recorder.emplace(gate.root);  // before anything is timed: it may be locked
    sweeps::ProgressLine line;
    const std::vector<sweeps::ComparedCase> cases = sweeps::compare(programs, arms.cases, settings, shown_on(line));
    line.clear();
    const reporting::CheckReport report = sweeps::findings_of(cases, names, settings);
    if (recorder) {
        recorder->record(cases, arms, settings);
        record_verdicts(recorder->writer(), sweeps::judged_findings(report, cases, arms),
                        canonical_json(sweeps::settings_json(settings)));
    }
    reporting::Table table = sweeps::comparison_table(cases, names, settings);
    table.notes.insert(table.notes.end(), notes.begin(), notes.end());
    print_check(report, table, gate);
    if (gate.json)
        for (const std::string& note : notes) print_note(note);
    else if (recorder)
        print(fmt::format("samples: {}", recorder->file().string()));
    return report;
}

}  // namespace deft::cli
