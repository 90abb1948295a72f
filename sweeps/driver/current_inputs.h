#pragma once
// What the results of a sweep would be made of today, for reports that mark what is stale.

#include <filesystem>

#include "reporting/stale.h"
#include "results_db/store.h"

namespace deft::sweeps {

// Of every trained trial, by what the database keeps of it: the sweep's file need not be there any more. Data files
// that were hashed before and look as they did are not read again; their hashes are kept below the root where it can be
// written.
reporting::Current current_inputs(const results_db::SweepResults& sweep, const std::filesystem::path& root);

}  // namespace deft::sweeps
