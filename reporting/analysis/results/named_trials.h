#pragma once
// The trials that a command line names.

#include <string>

#include "results_db/rows.h"

namespace deft::reporting {

// Whether `asked`, in the grammar of results_db/row_name.h, means the trial.
bool is_meant(const results_db::TrialRow& trial, const std::string& asked);

}  // namespace deft::reporting
