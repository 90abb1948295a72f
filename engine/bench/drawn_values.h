#pragma once
// Random inputs for timed layers, and a check of their outputs.

#include <cstdint>

#include "engine/core/tensor.h"

namespace deft::engine {

// Each uniform in [-scale, scale), f32; `stream` gives each tensor its own draws.
void fill_uniformly(const Tensor& tensor, float scale, std::uint32_t stream);

// Whether all values of a tensor are finite, f32, and not all of them zero.
bool is_finite_and_not_zero(const Tensor& tensor);

}  // namespace deft::engine
