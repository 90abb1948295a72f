#pragma once
// How far a sweep is, as JSON.

#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// {"schema": "deft-status/1", "sweep", "spec_sha256", ..., "trials"}: a trial each of the sweep and its search, and the
// other sweeps of `all` that have its name. What is stale is only known where the inputs were looked at.
std::string render_status_json(const Results& sweep, const std::vector<results_db::SweepHead>& all);

}  // namespace deft::reporting
