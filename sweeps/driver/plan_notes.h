#pragma once
// The assumptions of a plan's figures, in sentences.

#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/driver/plan.h"

namespace deft::sweeps {

// Recipes whose micro-batches do not divide their batches, and values that still grow when the training ends.
std::vector<std::string> schedule_notes(const std::vector<Trial>& trials);

// For a plan that has its rows, hours and price. checkpoints: bytes that a sweep with stages keeps.
std::vector<std::string> plan_notes(const Spec& spec, const Plan& plan, std::int64_t checkpoints);

}  // namespace deft::sweeps
