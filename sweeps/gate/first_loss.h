#pragma once
// Whether what is timed trains the model that it should.

#include <string>

#include "engine/models/transformer.h"

namespace deft::sweeps {

// On random tokens the loss before training is known. With another one, something else was trained. Errors: data.
void require_first_loss(const std::string& who, double loss, const engine::TransformerConfig& model);

}  // namespace deft::sweeps
