#pragma once
// Linear layers of few rows, as one that a model meets when it generates: bound by the reading of the weights, which a
// library's product packs first.

#include <cstdint>

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// Up to so many rows, products of vectors are faster than the library's (kernels/cpu/what_was_tried.md).
inline constexpr std::int64_t kFewRows = 8;

// As linear_forward (kernels/cpu/cpu.h), of any number of rows. The bits of a row depend on no other row.
void linear_of_few_rows(Exec&, float* y, float* pre, const float* x, const float* w, const float* bias,
                        std::int64_t rows, std::int64_t in, std::int64_t out, Activation);

}  // namespace deft::kernels::cpu
