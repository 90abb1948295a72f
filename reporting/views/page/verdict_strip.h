#pragma once
// The verdicts on a table's claims, at the top of a sweep's page and in its JSON.

#include <span>
#include <string>

#include "reporting/analysis/claims/claims_check.h"

namespace deft::reporting {

// One item a claim, in the table's order: a shape, the verdict in words, and what it rests on. Empty without claims.
// `table`: whose claims they are; `scale`: of the sweep, as its page calls it.
std::string verdict_strip_html(std::span<const ClaimFinding> findings, const PublishedTable& table,
                               const std::string& scale);

// "Claims of data_efficiency_gpt_combined: 1 holds, 4 unclear (deft check claims quick says why)." Empty without
// claims.
std::string verdict_line(std::span<const ClaimFinding> findings, const PublishedTable& table, const std::string& sweep);

}  // namespace deft::reporting
