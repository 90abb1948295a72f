#include "reporting/check_report.h"

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

int code_of(const std::vector<Outcome>& outcomes, bool strict = false) {
    CheckReport report;
    for (Outcome outcome : outcomes) {
        CheckFinding finding;
        finding.outcome = outcome;
        report.findings.push_back(finding);
    }
    return exit_code_of(report, strict);
}

}  // namespace

TEST_CASE("a gate's exit code tells worse from broken, unclear and unmeasured") {
    CHECK(code_of({Outcome::same, Outcome::better}) == kExitOk);
    CHECK(code_of({Outcome::same, Outcome::worse, Outcome::unclear}) == kExitWorse);
    CHECK(code_of({Outcome::worse, Outcome::broken}) == kExitFailed);
    CHECK(code_of({Outcome::missing, Outcome::broken}) == kExitFailed);
    CHECK(code_of({}) == kExitNothing);
    CHECK(code_of({Outcome::missing}, true) == kExitNothing);
    CHECK(code_of({Outcome::unclear, Outcome::same}) == kExitOk);
    CHECK(code_of({Outcome::unclear, Outcome::same}, true) == kExitUnclear);
    CHECK(code_of({Outcome::missing, Outcome::same}, true) == kExitOk);
}
