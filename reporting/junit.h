#pragma once
// The findings of a gate as JUnit XML, which GitLab, Jenkins and others read.

#include <string>

#include "reporting/check_report.h"

namespace deft::reporting {

// A test case a finding: worse is a failure, broken an error, missing and unclear are skipped, if `strict` unclear is a
// failure. Well-formed whatever the names hold: characters that XML 1.0 lacks are replaced.
std::string render_junit(const CheckReport& report, bool strict);

}  // namespace deft::reporting
