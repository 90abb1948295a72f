#pragma once
// The findings of a gate in Bencher Metric Format.

#include <string>

#include "reporting/check_report.h"

namespace deft::reporting {

// {NAME: {"time_ratio": {"value", "lower_value", "upper_value"}}}: head's time over base's; of a quality check
// {"difference": ...}: head's score or loss less base's. Findings without a number are left out.
std::string render_bencher_metrics(const CheckReport& report);

}  // namespace deft::reporting
