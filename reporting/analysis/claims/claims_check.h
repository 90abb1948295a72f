#pragma once
// A sweep against what a paper claims of its table: each claim holds, fails, is unclear or was not measured. The unit
// is the seed, and the claims of a table are one family (Holm 1979).

#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/check/check_report.h"
#include "reporting/analysis/claims/claim_test.h"
#include "reporting/analysis/published/published.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

struct ClaimFinding {
    Judged judged;
    std::string claim;  // its id
};

// At the sweep's scale. A finding names a margin that was different when the sweep first ran, or at an earlier
// verdict (`earlier`: all so far).
//
//   holds     the bound of the claim's test is beyond its threshold, corrected for the number of claims
//   fails     the opposite bound is
//   unclear   neither; or below kFewestSeeds seeds, with a diverged seed, for scores without any spread over seeds, and
//             for times of trials with different CPU contention (reporting/analysis/cost/cpu_contention.h)
//   missing   a row of the claim has no value or does not count as measured, or the claim is not judged at this scale
std::vector<ClaimFinding> check_claims(const PublishedTable& table, const Results& sweep,
                                       std::span<const results_db::VerdictRow> earlier, const ClaimRule& rule = {});

// The rules that judge a sweep of that scale, for results_db::Sweep: they reveal a margin that changes later.
std::string claims_json(const PublishedTable& table, const std::string& scale);

std::string rule_json(const ClaimRule& rule);

// The terms of the findings' texts, for below the table.
std::vector<std::string> claim_notes(const ClaimRule& rule);
CheckReport claims_report(std::span<const ClaimFinding> findings, const std::string& sweep,
                          const PublishedTable& table);

}  // namespace deft::reporting
