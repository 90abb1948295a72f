// deft check claims: does a sweep bear out what the paper says of its table?

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "reporting/analysis/claims/claims_check.h"
#include "reporting/analysis/results/sweep_text.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/gate_options.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/results.h"
#include "sweeps/spec/published_tables.h"

namespace deft::cli {

namespace {

struct CheckClaimsArguments {
    std::string sweep;
    std::vector<std::string> from;
    GateOptions gate;
};

// The newest of each name, of those that name a published table.
std::vector<reporting::Results> asked_sweeps(const results_db::Reader& reader, const std::string& asked,
                                             const std::string& root) {
    std::vector<reporting::Results> sweeps;
    if (asked != "all") {
        sweeps.push_back(find_sweep(reader, asked, inputs_below(root)));
        if (sweeps.front().paper.empty())
            throw Error(
                ErrorKind::missing,
                fmt::format("sweep {} names no published table, whose claims could be checked", sweeps.front().name),
                "name one in the sweep file: paper = \"data_efficiency_gpt_combined\"");
        return sweeps;
    }
    std::set<std::string> seen;
    for (const results_db::SweepHead& head : reader.sweeps())
        if (!head.paper.empty() && seen.insert(head.name).second)
            sweeps.push_back(find_sweep(reader, head.name, inputs_below(root)));
    return sweeps;
}

// Verdicts on what files hold are stored nowhere: the files may be no part of the root.
reporting::CheckReport check_claims(const CheckClaimsArguments& arguments) {
    const reporting::ClaimRule rule;
    reporting::CheckReport all;
    std::vector<reporting::Judged> judged;
    {
        const auto files = read_evidence(arguments.from);
        const results_db::Reader reader = open_results(arguments.gate.root, files);
        const std::vector<results_db::VerdictRow> earlier = reader.verdicts();
        for (const reporting::Results& sweep : asked_sweeps(reader, arguments.sweep, arguments.gate.root)) {
            const reporting::PublishedTable table = *sweeps::published_table(sweep.paper);
            const auto findings = reporting::check_claims(table, sweep, earlier, rule);
            for (const reporting::ClaimFinding& one : findings) judged.push_back(one.judged);
            reporting::CheckReport report = reporting::claims_report(findings, reporting::sweep_text(sweep), table);
            all.caption = all.caption.empty() ? report.caption : "Claims of all sweeps";
            for (reporting::CheckFinding& finding : report.findings) all.findings.push_back(std::move(finding));
        }
    }
    if (all.caption.empty()) all.caption = "Claims";
    GateOptions gate = arguments.gate;
    gate.dry_run = gate.dry_run || !arguments.from.empty();
    reporting::Table shown = reporting::check_table(all, all.findings.size());
    if (std::any_of(judged.begin(), judged.end(),
                    [](const reporting::Judged& one) { return one.adjusted_p.has_value(); }))
        shown.notes = reporting::claim_notes(rule);
    record_and_print(all, shown, judged, rule_json(rule), gate);
    return all;
}

}  // namespace

void add_check_claims(CLI::App& check, Context& context) {
    auto arguments = std::make_shared<CheckClaimsArguments>();
    CLI::App* command = check.add_subcommand("claims", "Does a sweep support the claims of the paper?");
    command->add_option("SWEEP", arguments->sweep,
                        std::string(kSweepHelp) + "; all: the newest of each that has claims");
    add_from(*command, arguments->from);
    add_gate_options(*command, arguments->gate);
    command->callback([arguments, &context] {
        take_name(arguments->from, arguments->sweep);
        prepare_outputs(arguments->gate);
        context.exit_code = finish_check(check_claims(*arguments), arguments->gate);
    });
}

}  // namespace deft::cli
