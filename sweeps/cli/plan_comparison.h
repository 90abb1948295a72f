#pragma once
// Predictions of deft plan beside published values.

#include "reporting/table.h"
#include "sweeps/driver/plan.h"

namespace deft::cli {

// A row for each published number; without rows where there is none.
reporting::Table comparison_table(const sweeps::Plan& plan);

}  // namespace deft::cli
