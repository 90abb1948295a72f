#pragma once
// A comparison as a gate's findings.

#include <span>
#include <string>
#include <vector>

#include "reporting/check_report.h"
#include "sweeps/gate/compare.h"
#include "sweeps/gate/comparison_table.h"

namespace deft::sweeps {

// A finding a row. Head's crash or wrong output is broken; base's, and a case of one program alone, leave nothing to
// compare with: missing. Effects are natural logarithms of head's time over base's.
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

// Of findings that were judged one by one.
reporting::CheckReport comparison_report(std::span<const reporting::Judged> judged, const ComparisonNames& names);

}  // namespace deft::sweeps
