// Matrix products of the emulated device, in place of the library's. Sums are floats, rounded once at the end.

#include "kernels/cuda/gemm.h"

#include <algorithm>
#include <vector>

namespace deft::kernels::cuda {

namespace {

// The operand (rows, cols) as the product sees it, row by row.
template <class Real>
std::vector<float> as_float_rows(Operand<Real> operand, std::int64_t rows, std::int64_t cols) {
    const std::int64_t stored_cols = operand.transposed ? rows : cols;
    const std::int64_t leading = operand.leading == 0 ? stored_cols : operand.leading;
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(rows * cols));
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
            values.push_back(to_float(operand.data[operand.transposed ? c * leading + r : r * leading + c]));
    return values;
}

}  // namespace

template <class In, class Out>
void gemm(Exec&, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, float beta,
          std::int64_t ldc) {
    const std::vector<float> left = as_float_rows(a, m, k), right = as_float_rows(b, k, n);
    std::vector<float> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < m; ++i) {
        std::fill(row.begin(), row.end(), 0.0f);
        for (std::int64_t p = 0; p < k; ++p) {
            const float factor = left[static_cast<std::size_t>(i * k + p)];
            const float* const from = right.data() + p * n;
            for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] += factor * from[j];
        }
        Out* const to = c + i * (ldc == 0 ? n : ldc);
        for (std::int64_t j = 0; j < n; ++j) {
            const float sum = row[static_cast<std::size_t>(j)];
            to[j] = from_float<Out>(beta == 0 ? sum : sum + beta * to_float(to[j]));  // without beta, c may be NaN
        }
    }
}

template void gemm<float, float>(Exec&, float*, Operand<float>, Operand<float>, std::int64_t, std::int64_t,
                                 std::int64_t, float, std::int64_t);
template void gemm<bf16, bf16>(Exec&, bf16*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t, std::int64_t,
                               float, std::int64_t);
template void gemm<bf16, float>(Exec&, float*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t, std::int64_t,
                                float, std::int64_t);

// A library that has no such calls: our own kernels run, which a device may need as well.
template <class Real>
bool gemm_bias_activation(Exec&, Real*, Real*, const Real*, const Real*, const Real*, std::int64_t, std::int64_t,
                          std::int64_t, Activation) {
    return false;
}

template <class Real>
bool gemm_activation_gradient(Exec&, Real*, const Real*, const Real*, const Real*, std::int64_t, std::int64_t,
                              std::int64_t, Activation) {
    return false;
}

template bool gemm_bias_activation(Exec&, float*, float*, const float*, const float*, const float*, std::int64_t,
                                   std::int64_t, std::int64_t, Activation);
template bool gemm_bias_activation(Exec&, bf16*, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                   std::int64_t, std::int64_t, Activation);
template bool gemm_activation_gradient(Exec&, float*, const float*, const float*, const float*, std::int64_t,
                                       std::int64_t, std::int64_t, Activation);
template bool gemm_activation_gradient(Exec&, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t, std::int64_t,
                                       std::int64_t, Activation);

}  // namespace deft::kernels::cuda
