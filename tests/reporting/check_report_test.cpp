#include "reporting/analysis/check/check_report.h"

#include "base/error.h"
#include "base/json.h"
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

TEST_CASE("a gate's exit code distinguishes worse, broken, unclear and unmeasured") {
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

TEST_CASE("findings as JSON and as rows keep what was not measured apart from zero") {
    Judged judged;
    judged.finding = {
        "quality", "plain: validation loss", "against main", Outcome::worse, "\"3\" against 2", 1.0, 0.5, 1.5, 0.02, 0};
    judged.adjusted_p = 0.25;
    CheckFinding missing;
    missing.check = "quality";
    const Json json = Json::parse(render_json({"a check", {judged.finding, missing}}, false));
    CHECK(json.at("schema") == "deft-check/1");
    CHECK(json.at("exit_code") == 3);
    CHECK(json.at("findings").at(0).at("outcome") == "worse");
    CHECK(json.at("findings").at(0).at("text") == "\"3\" against 2");
    CHECK(json.at("findings").at(0).at("limit") == 0.02);
    CHECK(json.at("findings").at(0).at("seconds").is_null());
    CHECK(json.at("findings").at(1).at("outcome") == "missing");
    CHECK(json.at("findings").at(1).at("effect").is_null());

    const auto rows = verdict_rows(std::vector{judged}, "c1", R"({"margin":1})", 7);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].kind == "quality");
    CHECK(rows[0].result == "worse");
    CHECK(rows[0].limit == 0.02);
    CHECK(rows[0].lower == 0.5);
    CHECK(rows[0].adjusted_p == 0.25);
    CHECK_FALSE(rows[0].p_value.has_value());
    CHECK(rows[0].rule_json == R"({"margin":1})");
}
