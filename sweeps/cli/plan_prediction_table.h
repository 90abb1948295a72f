#pragma once
// Predicted times of deft plan, labelled as predicted and with every source.

#include "reporting/table.h"
#include "sweeps/driver/plan_prediction.h"

namespace deft::cli {

// Inserts the predicted step after the memory in a plan's table. A plan without predictions leaves it as it is.
void add_predicted_steps(reporting::Table& table, const sweeps::PlanPrediction& prediction);

// Step, tokens a second and hours of each predicted row, beside its hours by FLOPs and the published ones.
reporting::Table prediction_table(const sweeps::Plan& plan, const sweeps::PlanPrediction& prediction);

}  // namespace deft::cli
