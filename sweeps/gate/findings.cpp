#include "sweeps/gate/findings.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"

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

std::string caption_of(const ComparisonNames& names) {
    return fmt::format("Benchmarks, {} against {}", names.head, names.base);
}

Json program_json(const results_db::Code& code) {
    return {{"git_sha", code.git_sha}, {"dirty", code.dirty}, {"binary_sha256", code.binary_sha256}};
}

}  // namespace

reporting::CheckReport findings_of(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                   const ComparisonSettings& settings) {
    reporting::CheckReport report;
    report.caption = caption_of(names);
    for (const ComparedCase& one : cases) report.findings.push_back(finding_of(one, names, settings));
    return report;
}

std::vector<reporting::Judged> judged_findings(const reporting::CheckReport& findings,
                                               std::span<const ComparedCase> cases, const KnownArms& arms) {
    std::vector<reporting::Judged> all;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const ComparedCase& one = cases[i];
        const CheckFinding& finding = findings.findings.at(i);
        Json subject = {{"case", one.name}, {"base", program_json(arms.base)}, {"head", program_json(arms.head)}};
        if (!finding.where.empty()) subject["caches"] = finding.where;
        if (!one.backend.empty()) subject["backend"] = one.backend;
        reporting::Judged& judged = all.emplace_back();
        judged.finding = finding;
        judged.subject_json = subject.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (!one.is_measured()) continue;
        judged.p_value = one.first.decision.evidence->p_value;
        judged.adjusted_p = one.adjusted_p;
    }
    return all;
}

reporting::Judged judged_build(const UnbuiltRevision& revision, const ComparisonNames& names) {
    const bool is_head = revision.side == Side::head;
    const std::string& side = is_head ? names.head : names.base;
    reporting::Judged judged;
    judged.finding.check = "bench";
    judged.finding.name = "build of " + side;
    judged.finding.outcome = is_head ? Outcome::broken : Outcome::missing;
    judged.finding.text = fmt::format("{}, commit {}, does not build{}: {}", side, short_hash(revision.hash),
                                      is_head ? "" : ", which leaves nothing to compare with", revision.reason);
    judged.subject_json = Json{{"build", side}, {"git_sha", revision.hash}}.dump();
    return judged;
}

reporting::CheckReport comparison_report(std::span<const reporting::Judged> judged, const ComparisonNames& names) {
    reporting::CheckReport report{caption_of(names), {}};
    for (const reporting::Judged& one : judged) report.findings.push_back(one.finding);
    return report;
}

}  // namespace deft::sweeps
