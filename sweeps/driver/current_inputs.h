#pragma once
// The inputs that the results of a sweep would have today, for reports that mark stale results.

#include <filesystem>

#include "reporting/analysis/results/stale.h"
#include "results_db/rows.h"

namespace deft::sweeps {

// One entry per trained trial, from the database: the sweep's file need not exist any more. Data files
// that were hashed before and look as they did are not read again; their hashes are kept below the root where it can be
// written.
reporting::Current current_inputs(const results_db::StoredSweep& sweep, const std::filesystem::path& root);

}  // namespace deft::sweeps
