#pragma once
// Tables of deft plan: the plan, the sampler's draws, and the schedules as figures.

#include <vector>

#include "experiments/draws.h"
#include "reporting/table.h"
#include "reporting/views/render/figure.h"
#include "sweeps/driver/plan.h"

namespace deft::cli {

// One line for each row.
reporting::Table plan_table(const sweeps::Plan& plan);

// The draws of each recipe's sampler, in total and by difficulty. Both have one line for each row. `draws`: one a row,
// of its first seed.
reporting::Table draws_table(const std::vector<sweeps::PlanRow>& rows,
                             const std::vector<experiments::DrawTotals>& draws);
reporting::Table epochs_table(const std::vector<sweeps::PlanRow>& rows,
                              const std::vector<experiments::DrawTotals>& draws);

// A figure each of length, kept tokens, samples of a step, every difficulty and the learning rate, by step. A quantity
// that changes in no row has no figure. In the others every row is drawn, also one that never changes, for comparison.
std::vector<reporting::Figure> schedule_figures(const std::vector<sweeps::PlanRow>& rows);

}  // namespace deft::cli
