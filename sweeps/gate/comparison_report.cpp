#include "sweeps/gate/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/median.h"
#include "base/text.h"
#include "reporting/analysis/statistics/case_family.h"
#include "reporting/numbers.h"
#include "sweeps/gate/arm.h"
#include "sweeps/gate/bench_records.h"

namespace deft::sweeps {

namespace {

using reporting::CheckFinding;
using reporting::Interval;
using reporting::Outcome;
using reporting::Verdict;

std::string interval_text(const Interval& interval) {
    return fmt::format("[{:.3f}, {:.3f}]", interval.low, interval.high);
}

// "worse", "crashed in HEAD", "only in BASE".
std::string verdict_text(const ComparedCase& one, const ComparisonNames& names) {
    const std::string& side = one.side == Side::base ? names.base : names.head;
    switch (one.trouble) {
        case Trouble::only_in_base:
            return "only in " + names.base;
        case Trouble::only_in_head:
            return "only in " + names.head;
        case Trouble::wrong_output:
            return "wrong output in " + side;
        case Trouble::crashed:
            return "crashed in " + side;
        case Trouble::none:
            break;
    }
    return one.is_measured() ? reporting::name(one.verdict) : "not measured";
}

// "HEAD is 1.034x slower than BASE [1.021, 1.047]", of a case with evidence.
std::string ratio_sentence(const ComparedCase& one, const ComparisonNames& names) {
    const reporting::PairedEvidence& evidence = *one.shown().decision.evidence;
    const bool slower = evidence.ratio >= 1;
    const Interval& seen = evidence.interval;
    return fmt::format("{} is {:.3f}x {} than {} {}", names.head, slower ? evidence.ratio : 1 / evidence.ratio,
                       slower ? "slower" : "faster", names.base,
                       interval_text(slower ? seen : Interval{1 / seen.high, 1 / seen.low}));
}

double median_base_seconds(const Measurement& measurement) {
    std::vector<double> seconds;
    for (const reporting::TimedPair& pair : measurement.pairs) seconds.push_back(pair.base);
    return median(std::move(seconds));
}

std::string pairs_text(const ComparedCase& one) {
    return one.again ? fmt::format("{} + {}", one.first.pairs.size(), one.again->pairs.size())
                     : std::to_string(one.first.pairs.size());
}

void add_row(reporting::Table& table, const ComparedCase& one, const ComparisonNames& names) {
    const bool lonely = one.trouble == Trouble::only_in_base || one.trouble == Trouble::only_in_head;
    const std::string caches = lonely ? "-" : kernels::to_string(one.state);
    if (!one.is_measured()) {
        table.rows.push_back({one.name, caches, "-", "-", "-", verdict_text(one, names), pairs_text(one)});
        return;
    }
    const reporting::PairedEvidence& evidence = *one.shown().decision.evidence;
    table.rows.push_back({one.name, caches, reporting::small_seconds(median_base_seconds(one.shown())),
                          reporting::Cell(fmt::format("{:.3f}", evidence.ratio), evidence.ratio),
                          interval_text(evidence.interval), verdict_text(one, names), pairs_text(one)});
}

std::vector<double> measured_ratios(std::span<const ComparedCase> cases) {
    std::vector<double> ratios;
    for (const ComparedCase& one : cases)
        if (one.is_measured()) ratios.push_back(one.shown().decision.evidence->ratio);
    return ratios;
}

std::string family_note(std::span<const ComparedCase> cases, const ComparisonNames& names) {
    const reporting::FamilySummary family = reporting::family_summary(measured_ratios(cases));
    return fmt::format("Over {} measured row(s) {} takes {:.3f} times as long as {}{}.", family.cases, names.head,
                       family.ratio, names.base,
                       family.interval ? fmt::format(", 95% interval {}", interval_text(*family.interval)) : "");
}

std::string unconfirmed_note(const ComparedCase& one) {
    const reporting::PairedDecision& first = one.first.decision;
    const std::string seen =
        fmt::format("{}, {}: a first measurement said {} ({:.3f} {})", one.name, kernels::to_string(one.state),
                    reporting::name(first.verdict), first.evidence->ratio, interval_text(first.evidence->interval));
    return one.again ? seen + "; a second one did not confirm it."
                     : seen + fmt::format("; not significant among all cases (adjusted p {:.3f}).", one.adjusted_p);
}

std::string method_note(const ComparisonSettings& settings) {
    const std::vector<int> processors = processors_for(settings.threads);
    std::string where;
    for (const int processor : processors) where += (where.empty() ? "" : ", ") + std::to_string(processor);
    const double load = load_average();
    return fmt::format(
        "ratio: {} thread(s){}; pairs in random order (seed {}) from fresh processes, {} launches or more, samples of "
        "{} or more; Hodges-Lehmann centre, exact signed-rank interval at {:.2f}%, margin {:.1f}%; better and worse "
        "measured twice.{}",
        settings.threads, where.empty() ? ", not pinned" : " on processor(s) " + where, settings.seed,
        settings.launches, reporting::small_seconds(settings.sample_seconds),
        100 * (1 - settings.rule.alpha / static_cast<double>(settings.rule.looks.size())), 100 * settings.rule.margin,
        load < 0 ? "" : fmt::format(" Load of the machine in the last minute: {:.1f}.", load));
}

// ---- findings
// ----------------------------------------------------------------------------------------------------------

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

reporting::Table comparison_table(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                  const ComparisonSettings& settings) {
    using reporting::Align;
    reporting::Table table;
    table.caption = fmt::format("{} against {}", names.head, names.base);
    table.columns = {{"case", Align::left},
                     {"caches", Align::left},
                     {"time of " + names.base},
                     {"ratio"},
                     {"interval"},
                     {"verdict", Align::left},
                     {"pairs"}};
    table.key_columns = 2;
    for (const ComparedCase& one : cases) add_row(table, one, names);
    for (const ComparedCase& one : cases) {
        const std::string which = fmt::format("{}, {}: ", one.name, kernels::to_string(one.state));
        if (one.is_measured() && (one.verdict == Verdict::worse || one.verdict == Verdict::better))
            table.notes.push_back(which + ratio_sentence(one, names) + ".");
        else if (one.is_measured() && reporting::wants_confirmation(one.first.decision))
            table.notes.push_back(unconfirmed_note(one));
        else if (!one.why.empty())
            table.notes.push_back(which + verdict_text(one, names) + ": " + one.why + ".");
    }
    if (!measured_ratios(cases).empty()) table.notes.push_back(family_note(cases, names));
    table.notes.push_back(method_note(settings));
    return table;
}

std::vector<std::string> noise_notes(std::span<const ComparedCase> cases, const ComparisonSettings& settings) {
    std::size_t measured = 0, first_alarms = 0, alarms = 0, unclear = 0;
    double margin = settings.rule.margin;
    std::vector<double> widths;
    for (const ComparedCase& one : cases) {
        if (!one.is_measured()) continue;
        ++measured;
        first_alarms += reporting::wants_confirmation(one.first.decision);
        alarms += one.verdict == Verdict::better || one.verdict == Verdict::worse;
        unclear += one.verdict == Verdict::unclear;
        const Interval& interval = one.first.decision.evidence->interval;
        margin = reporting::margin_above_noise(margin, interval);
        widths.push_back(reporting::margin_above_noise(1e-9, interval));
    }
    if (measured == 0) return {};
    return {
        fmt::format("Identical code, {} comparison(s): {} called different by a first measurement, {} still after "
                    "the second; {} unclear.",
                    measured, first_alarms, alarms, unclear),
        fmt::format("Noise: intervals reach {:.1f}% from 1 in the middle, {:.1f}% at most. Margin that this machine "
                    "supports now, for these cases: {:.1f}% (deft check bench --margin {:.3f}).",
                    100 * median(widths), 100 * *std::max_element(widths.begin(), widths.end()), 100 * margin, margin)};
}

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
