#pragma once
// Findings for programs.

#include <string>

#include "reporting/check_report.h"

namespace deft::reporting {

// {"schema": "deft-check/1", "caption", "exit_code", "findings": [{"check", "name", "where", "outcome", "text",
// "effect", "lower", "upper", "limit", "seconds"}]}; what was not measured is null.
std::string render_json(const CheckReport& report, bool strict);

}  // namespace deft::reporting
