#pragma once
// A comparison as a gate's findings.

#include <span>

#include "reporting/check_report.h"
#include "sweeps/paired_bench/compare.h"
#include "sweeps/paired_bench/comparison_table.h"

namespace deft::sweeps {

// A finding a row. Head's crash or wrong output is broken; base's, and a case of one program alone, leave nothing to
// compare with: missing. Effects are natural logarithms of head's time over base's.
reporting::CheckReport findings_of(std::span<const ComparedCase> cases, const ComparisonNames& names,
                                   const ComparisonSettings& settings);

}  // namespace deft::sweeps
