#pragma once
// Whether what is timed trains the model that it should.

#include <string>

#include "engine/bench/step.h"

namespace deft::sweeps {

// On random samples the loss before training is known. With another one, something else was trained. Errors: data.
void require_first_loss(const std::string& who, double loss, const engine::StepBench& bench);

}  // namespace deft::sweeps
