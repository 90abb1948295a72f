#pragma once
// A sweep's report as one HTML file that needs nothing else: no script, no network.

#include <string>
#include <vector>

#include "reporting/analysis/claims/claims_check.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/results.h"
#include "reporting/views/page/expert_routing.h"

namespace deft::reporting {

struct ReportData {
    Results sweep;
    SweepAbout about;
    Curves curves;                                     // may be empty
    std::vector<results_db::Checkpoint> checkpoints;   // by config hash and step
    ExpertLoads experts = {};                          // of models with experts
    std::vector<results_db::VerdictRow> earlier = {};  // on claims; they reveal an edited margin
};

// The sweep against the claims of its published table; none where it names none.
std::vector<ClaimFinding> claims_of(const ReportData& data);

// The same data give the same bytes.
std::string render_page(const ReportData& data);

// The comparison, and every trial's stored values, in one JSON object.
std::string render_report_json(const ReportData& data);

}  // namespace deft::reporting
