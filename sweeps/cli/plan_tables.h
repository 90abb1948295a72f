#pragma once
// What deft plan shows: the plan, what the sampler draws, and the schedules as figures.

#include <vector>

#include "experiments/draws.h"
#include "reporting/figure.h"
#include "reporting/table.h"
#include "sweeps/driver/plan.h"

namespace deft::cli {

// A row a variant.
reporting::Table plan_table(const sweeps::Plan& plan);

// What the sampler of each case draws, and how often by difficulty. Both have a row a variant. `draws`: one a row, of
// its first seed.
reporting::Table draws_table(const std::vector<sweeps::PlanRow>& rows,
                             const std::vector<experiments::DrawTotals>& draws);
reporting::Table epochs_table(const std::vector<sweeps::PlanRow>& rows,
                              const std::vector<experiments::DrawTotals>& draws);

// What each step takes: length, kept tokens, samples of a step, each difficulty and the learning rate, by step. Of these
// quantities those that change in at least one of the rows; a row that never changes is drawn all the same, for
// comparison.
std::vector<reporting::Figure> schedule_figures(const std::vector<sweeps::PlanRow>& rows);

}  // namespace deft::cli
