// deft check quality: is a sweep worse than a pinned baseline?

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "reporting/analysis/quality/pinned.h"
#include "reporting/analysis/quality/quality_check.h"
#include "reporting/analysis/results/sweep_text.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/gate_options.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

struct CheckQualityArguments {
    std::string sweep, baseline, baseline_root;
    std::vector<std::string> only;
    std::vector<std::string> from;
    reporting::QualityRule rule;
    GateOptions gate;
    bool full = false;
};

// The table, or one line where every comparison came out the same or lacks the same thing.
reporting::Table shown_table(const std::vector<reporting::QualityFinding>& findings, const std::string& sweep,
                             const CheckQualityArguments& arguments) {
    reporting::Table table = reporting::quality_table(findings, sweep, arguments.baseline, arguments.rule);
    if (findings.empty() || arguments.full) return table;
    const reporting::CheckFinding& first = findings.front().judged.finding;
    const bool is_one_answer = std::ranges::all_of(findings, [&](const reporting::QualityFinding& one) {
        const reporting::CheckFinding& finding = one.judged.finding;
        return finding.outcome == first.outcome &&
               (first.outcome == reporting::Outcome::same ||
                (first.outcome == reporting::Outcome::missing && finding.text == first.text));
    });
    if (!is_one_answer) return table;
    reporting::Table line;
    line.caption = fmt::format("{}: {} ({}; --full)", table.caption,
                               first.outcome == reporting::Outcome::same ? "the same" : first.text,
                               counted(findings.size(), "comparison"));
    return line;
}

std::vector<reporting::MeasuredRow> pinned(const CheckQualityArguments& arguments) {
    const std::string& root = arguments.baseline_root.empty() ? arguments.gate.root : arguments.baseline_root;
    return reporting::pinned_rows(open_results(root).baselines(), arguments.baseline);
}

reporting::CheckReport check_quality(const CheckQualityArguments& arguments) {
    const std::vector<reporting::MeasuredRow> base = pinned(arguments);
    std::string sweep_name;
    std::vector<reporting::MeasuredRow> head;
    {
        const std::vector<results_db::NamedEvidence> files = read_evidence(arguments.from);
        const results_db::Reader reader = open_results(arguments.gate.root, files);
        const reporting::Results sweep =
            reporting::selected(find_sweep(reader, arguments.sweep, inputs_below(arguments.gate.root)), arguments.only);
        sweep_name = reporting::sweep_text(sweep);
        head = reporting::measured_rows(sweep, reader.curves(sweep));
    }
    const auto findings =
        reporting::check_quality(base, head, arguments.baseline, arguments.rule, arguments.only.empty());
    std::vector<reporting::Judged> judged;
    for (const reporting::QualityFinding& one : findings) judged.push_back(one.judged);
    const reporting::CheckReport report = reporting::quality_report(findings, sweep_name, arguments.baseline);
    GateOptions gate = arguments.gate;  // verdicts on what files hold are not stored
    gate.dry_run = gate.dry_run || !arguments.from.empty();
    record_and_print(report, shown_table(findings, sweep_name, arguments), judged, rule_json(arguments.rule), gate);
    return report;
}

}  // namespace

void add_check_quality(CLI::App& check, Context& context) {
    auto arguments = std::make_shared<CheckQualityArguments>();
    CLI::App* command = check.add_subcommand("quality", "Is a sweep worse than a baseline?");
    command->add_option("SWEEP", arguments->sweep, kSweepHelp);
    add_from(*command, arguments->from);
    command->add_option("--baseline", arguments->baseline, "The baseline's name, as deft baseline list shows it")
        ->required();
    command->add_option("--baseline-root", arguments->baseline_root,
                        "The results that the baseline is pinned in, where they are not those of --root");
    command
        ->add_option("--only", arguments->only,
                     "These recipes, rows or trials alone, as in baseline or 'CL at 50%'; several are joined")
        ->allow_extra_args(false);
    add_number(*command, "--loss-margin", arguments->rule.loss_margin,
               "By how much a loss must be higher to be worse, as a share of the baseline's", 1e-6, 10.0);
    add_number(*command, "--score-margin", arguments->rule.score_margin,
               "By how much a score must be lower to be worse, in its own units", 1e-6, 1000.0);
    command->add_flag("--full", arguments->full, "Print the table also where every comparison came out the same");
    add_gate_options(*command, arguments->gate);
    command->callback([arguments, &context] {
        take_name(arguments->from, arguments->sweep);
        prepare_outputs(arguments->gate);
        context.exit_code = finish_check(check_quality(*arguments), arguments->gate);
    });
}

}  // namespace deft::cli
