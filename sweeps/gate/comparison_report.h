#pragma once
// A comparison as people read it, and as a gate's findings.

#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/check/check_report.h"
#include "reporting/table.h"
#include "sweeps/gate/compare.h"

namespace deft::sweeps {

struct ComparisonNames {
    std::string base = "BASE", head = "HEAD";
};

// A row a case, then what is better or worse, troubles, all cases together, and how it was measured.
reporting::Table comparison_table(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                  const ComparisonSettings& settings);

// The noise of this machine from comparisons of a program with itself: how far apart identical code can seem, how often
// it was called different, and the margin that this supports.
std::vector<std::string> noise_notes(std::span<const ComparedCase> cases, const ComparisonSettings& settings);

// A finding a row. Where head crashes or its output is wrong, the finding is broken. Where base does, or where one
// program alone has the case, there is nothing to compare, and the finding is missing. Effects are natural logarithms
// of head's time over base's.
reporting::CheckReport findings_of(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                   const ComparisonSettings& settings);

// These findings with what the database keeps of them besides: which programs, and the p-value of the first
// measurement.
std::vector<reporting::Judged> judged_findings(const reporting::CheckReport& findings,
                                               std::span<const ComparedCase> cases, const KnownArms& arms);

// A commit that was to be compared and does not build.
struct UnbuiltRevision {
    Side side = Side::head;
    std::string hash, reason;  // in full; one line
};
// Broken where it is head; missing where it is base, which leaves nothing to compare with.
reporting::Judged judged_build(const UnbuiltRevision& revision, const ComparisonNames& names);

// A report of findings that were judged one by one.
reporting::CheckReport comparison_report(std::span<const reporting::Judged> judged, const ComparisonNames& names);

}  // namespace deft::sweeps
