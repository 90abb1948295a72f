#pragma once
// The table of deft plan --launcher slurm.

#include "reporting/table.h"
#include "sweeps/driver/plan_jobs.h"

namespace deft::cli {

reporting::Table jobs_table(const sweeps::JobsPlan& jobs);

}  // namespace deft::cli
