#pragma once
// Findings with what only the database keeps of them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reporting/check_report.h"
#include "results_db/verdict_rows.h"

namespace deft::reporting {

struct Judged {
    CheckFinding finding;
    std::string subject_json = "{}";            // what was compared with what
    std::optional<double> p_value, adjusted_p;  // adjusted over the findings of the check
};

// As rows of one check, given now. rule_json: the thresholds as they were.
std::vector<results_db::VerdictRow> verdict_rows(std::span<const Judged> judged, const std::string& check_uid,
                                                 const std::string& rule_json, std::int64_t now_ms);

}  // namespace deft::reporting
