#pragma once
// The schedules of a sweep's cases as figures: what each step takes.

#include <vector>

#include "reporting/figure.h"
#include "sweeps/driver/plan.h"

namespace deft::sweeps {

// Length, kept tokens, samples of a step, each difficulty and the learning rate, by step: those that change in at least
// one of the rows; a row that never changes is drawn all the same, for comparison.
std::vector<reporting::Figure> schedule_figures(const std::vector<PlanRow>& rows);

}  // namespace deft::sweeps
