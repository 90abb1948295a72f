#include "sweeps/paired_bench/findings.h"

#include <fmt/format.h>

#include <cmath>

namespace deft::sweeps {

namespace {

using reporting::CheckFinding;
using reporting::Outcome;

Outcome outcome_of(const ComparedCase& one) {
    const bool failed = one.trouble == Trouble::crashed || one.trouble == Trouble::wrong_output;
    if (failed && one.side == Side::head) return Outcome::broken;
    return one.is_measured() ? reporting::outcome_of(one.verdict) : Outcome::missing;
}

CheckFinding finding_of(const ComparedCase& one, const ComparisonNames& names, const ComparisonSettings& settings) {
    CheckFinding finding;
    finding.check = "bench";
    finding.name = one.name;
    finding.outcome = outcome_of(one);
    finding.seconds = one.measured_for;
    const bool lonely = one.trouble == Trouble::only_in_base || one.trouble == Trouble::only_in_head;
    if (!lonely) finding.where = kernels::to_string(one.state);
    if (!one.is_measured()) {
        finding.text = verdict_text(one, names) + (one.why.empty() ? "" : ": " + one.why);
        return finding;
    }
    const reporting::PairedEvidence& evidence = *one.shown().decision.evidence;
    finding.effect = std::log(evidence.ratio);
    finding.lower = std::log(evidence.interval.low);
    finding.upper = std::log(evidence.interval.high);
    finding.limit = std::log1p(settings.rule.margin);
    finding.text = fmt::format("{}, margin {:.1f}%", ratio_sentence(one, names), 100 * settings.rule.margin);
    return finding;
}

}  // namespace

reporting::CheckReport findings_of(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                   const ComparisonSettings& settings) {
    reporting::CheckReport report;
    report.caption = fmt::format("Benchmarks, {} against {}", names.head, names.base);
    for (const ComparedCase& one : cases) report.findings.push_back(finding_of(one, names, settings));
    return report;
}

}  // namespace deft::sweeps
