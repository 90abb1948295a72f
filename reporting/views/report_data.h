#pragma once
// The data that every view of a sweep shows.

#include <map>
#include <string>
#include <vector>

#include "base/journal.h"
#include "reporting/analysis/claims/claims_check.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

using ExpertLoads = std::map<std::string, std::vector<journal::ExpertLoad>>;  // by config hash; each by step and layer

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

}  // namespace deft::reporting
