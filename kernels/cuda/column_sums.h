#pragma once
// Column sums of a matrix in fixed chunks of rows: the order of addition depends on the shape alone.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// sums (cols) = or += column sums of y (rows, cols).
template <class Real>
void column_sums(Exec&, float* sums, const Real* y, std::int64_t rows, std::int64_t cols, Accumulate);

}  // namespace deft::kernels::cuda
