#pragma once
// A gate's findings as one value: tables, annotations and exit codes are made from it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"
#include "reporting/table.h"
#include "results_db/gate_rows.h"

namespace deft::reporting {

enum class Outcome {
    better,
    same,
    worse,
    unclear,
    broken,   // crashed, wrong output, NaN: the failure itself is the finding
    missing,  // not measured, or nothing to compare with
    holds,
    fails,  // of a claim: as same and worse
};

// As the database and machine-readable output spell it.
constexpr const char* name(Outcome outcome) {
    switch (outcome) {
        case Outcome::better:
            return "better";
        case Outcome::same:
            return "same";
        case Outcome::worse:
            return "worse";
        case Outcome::unclear:
            return "unclear";
        case Outcome::broken:
            return "broken";
        case Outcome::holds:
            return "holds";
        case Outcome::fails:
            return "fails";
        case Outcome::missing:
            break;
    }
    return "missing";
}

// As people read it: a claim is supported, refuted, inconclusive or not evaluated.
constexpr const char* word(Outcome outcome) {
    switch (outcome) {
        case Outcome::holds:
            return "supported";
        case Outcome::fails:
            return "refuted";
        case Outcome::unclear:
            return "inconclusive";
        case Outcome::missing:
            return "not evaluated";
        default:
            return name(outcome);
    }
}

constexpr Outcome outcome_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::better:
            return Outcome::better;
        case Verdict::same:
            return Outcome::same;
        case Verdict::worse:
            return Outcome::worse;
        case Verdict::unclear:
            break;
    }
    return Outcome::unclear;
}

// One measure of one case.
struct CheckFinding {
    std::string check;  // bench | quality | trend | claim
    std::string name;   // the case and measure: "linear_forward/64x64x64", "baseline: validation loss"
    std::string where;  // the host or row that distinguishes findings of one name; may be empty
    Outcome outcome = Outcome::missing;
    std::string text;  // one sentence: what was found, and how sure
    // Head against base: the log ratio of times, or the difference of scores and losses; nothing where not measured.
    std::optional<double> effect, lower, upper;  // with its interval
    std::optional<double> limit;                 // that was applied, in the effect's units; above 0
    double seconds = 0;                          // that the measurement took; 0: unknown
};

struct CheckReport {
    std::string caption;
    std::vector<CheckFinding> findings;
};

// The first that holds: kExitFailed where something is broken; kExitWorse; kExitNothing where nothing was measured;
// kExitUnclear, if `strict`, where something stayed unclear.
int exit_code_of(const CheckReport& report, bool strict);

// The findings of a gate as a table.

// "1 worse, 3 same": what was found at all, the gravest first; "nothing was checked" for an empty report.
std::string counts_text(const CheckReport& report);

// The findings that a reader must see first come first; otherwise in the report's order.
std::vector<CheckFinding> by_gravity(const CheckReport& report);

// The gravest findings, up to a limit; a note counts the rest.
Table check_table(const CheckReport& report, std::size_t most_rows);

// Findings for programs.

// {"schema": "deft-check/1", "caption", "exit_code", "findings": [{"check", "name", "where", "outcome", "text",
// "effect", "lower", "upper", "limit", "seconds"}]}; what was not measured is null.
std::string render_json(const CheckReport& report, bool strict);

// Findings with what only the database keeps of them.

struct Judged {
    CheckFinding finding;
    std::string subject_json = "{}";            // what was compared with what
    std::optional<double> p_value, adjusted_p;  // adjusted over the findings of the check
};

// As rows of one check, given now. rule_json: the thresholds as they were.
std::vector<results_db::VerdictRow> verdict_rows(std::span<const Judged> judged, const std::string& check_uid,
                                                 const std::string& rule_json, std::int64_t now_ms);

}  // namespace deft::reporting
