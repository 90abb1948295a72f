#pragma once
// The tables of deft plan --draws: what the sampler of each case draws, and how often by difficulty.

#include <vector>

#include "experiments/draws.h"
#include "reporting/table.h"
#include "sweeps/driver/plan.h"

namespace deft::cli {

// Both have a row a variant. `draws`: one a row, of its first seed.
reporting::Table draws_table(const std::vector<sweeps::PlanRow>& rows,
                             const std::vector<experiments::DrawTotals>& draws);
reporting::Table epochs_table(const std::vector<sweeps::PlanRow>& rows,
                              const std::vector<experiments::DrawTotals>& draws);

}  // namespace deft::cli
