#pragma once
// Column sums of a matrix in fixed chunks of rows: the order of addition depends on the shape alone.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// sums (cols) = or += column sums of y (rows, cols).
template <class Real>
void column_sums(Exec&, float* sums, const Real* y, std::int64_t rows, std::int64_t cols, Accumulate);

// As above, unless sums is null; and normalised_sums (cols) = or += column sums of y n, with n = (x - mean) rstd.
// x (rows, cols); mean, rstd (rows); mean null: 0.
template <class Real>
void column_sums(Exec&, float* sums, float* normalised_sums, const Real* y, const Real* x, const float* mean,
                 const float* rstd, std::int64_t rows, std::int64_t cols, Accumulate);

}  // namespace deft::kernels::cuda
