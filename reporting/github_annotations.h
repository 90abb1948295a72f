#pragma once
// The findings of a gate where GitHub shows them: as annotations of a run, and as its summary.

#include <string>
#include <string_view>

#include "reporting/check_report.h"

namespace deft::reporting {

// Text that GitHub's workflow commands carry: %, CR and LF as their percent codes; in a property : and , as well.
std::string github_data(std::string_view text);
std::string github_property(std::string_view text);

// Workflow commands to be printed, a line each: ::error for broken and worse, ::warning for unclear and missing,
// ::notice for better, nothing for same. GitHub shows ten of a kind for a step: where there are more, the tenth counts
// the rest.
std::string github_annotations(const CheckReport& report);

// Markdown for the file that GITHUB_STEP_SUMMARY names, far below the size that GitHub refuses.
std::string github_summary(const CheckReport& report);

}  // namespace deft::reporting
