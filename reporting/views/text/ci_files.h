#pragma once
// The findings of a gate where GitHub shows them: as annotations of a run, and as its summary.

#include <string>
#include <string_view>

#include "reporting/analysis/check/check_report.h"

namespace deft::reporting {

// Text that GitHub's workflow commands carry: %, CR and LF as their percent codes; in a property : and , as well.
std::string github_data(std::string_view text);
std::string github_property(std::string_view text);

// Workflow commands to be printed, a line each: ::error for broken, worse and fails, ::warning for unclear and missing,
// ::notice for better, nothing for same and holds. GitHub shows ten of a kind for a step: where there are more, the
// tenth counts the rest.
std::string github_annotations(const CheckReport& report);

// Markdown for the file that GITHUB_STEP_SUMMARY names, far below the size that GitHub refuses.
std::string github_summary(const CheckReport& report);

// The findings of a gate as JUnit XML, which GitLab, Jenkins and others read.

// A test case a finding: worse and fails are failures, broken an error, missing and unclear are skipped, if `strict`
// unclear is a failure. Well-formed whatever the names hold: characters that XML 1.0 lacks are replaced.
std::string render_junit(const CheckReport& report, bool strict);

// The findings of a gate in Bencher Metric Format.

// {NAME: {"time_ratio": {"value", "lower_value", "upper_value"}}}: head's time over base's; of a quality check
// {"difference": ...}: head's score or loss less base's. Findings without a number are left out.
std::string render_bencher_metrics(const CheckReport& report);

}  // namespace deft::reporting
