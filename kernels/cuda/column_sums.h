#pragma once
// Column sums of a matrix in fixed chunks of rows: the order of addition depends on the shape alone.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// sums (cols) = or += column sums of y (rows, cols).
template <class Real>
void column_sums(Exec&, float* sums, const Real* y, std::int64_t rows, std::int64_t cols, Accumulate);

// The second half of a kernel that leaves partial sums: up to two arrays (cols), the second null where there is one.
struct SumArrays {
    float* array[2];
    std::int64_t cols;

    std::int64_t count() const { return array[1] == nullptr ? 1 : 2; }
};
// Each array = or += its sums over the chunks of partial (chunks, arrays, cols).
void finish_column_sums(Exec&, const SumArrays& sums, const float* partial, std::int64_t chunks, Accumulate);

}  // namespace deft::kernels::cuda
