#include "reporting/check_report.h"

#include <algorithm>

#include "base/error.h"

namespace deft::reporting {

int exit_code_of(const CheckReport& report, bool strict) {
    const auto any = [&](Outcome outcome) {
        return std::any_of(report.findings.begin(), report.findings.end(),
                           [&](const CheckFinding& finding) { return finding.outcome == outcome; });
    };
    if (any(Outcome::broken)) return kExitFailed;
    if (any(Outcome::worse)) return kExitWorse;
    const bool measured = any(Outcome::better) || any(Outcome::same) || any(Outcome::unclear);
    if (!measured) return kExitNothing;
    return strict && any(Outcome::unclear) ? kExitUnclear : kExitOk;
}

}  // namespace deft::reporting
