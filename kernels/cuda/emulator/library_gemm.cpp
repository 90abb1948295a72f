// Matrix products of the emulated device, in place of the library's. Sums are floats, rounded once at the end.

#include "kernels/cuda/gemm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cuda/emulator/library_gemm.h"
#include "kernels/cuda/emulator/stream.h"
#include "kernels/cuda/product_key.h"
#include "kernels/cuda/products.h"
#include "kernels/reference/layers.h"

namespace deft::kernels::cuda {

namespace {

// The one library, as the emulated device is one.
struct Library {
    emulator::LibraryRules rules;
    emulator::LibraryCalls calls;
} library;

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

// finish(sum, i, j) for each sum of a row of a and a column of b.
template <class In, class Finish>
void multiply(Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k, const Finish& finish) {
    const std::vector<float> left = as_float_rows(a, m, k), right = as_float_rows(b, k, n);
    std::vector<float> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < m; ++i) {
        std::fill(row.begin(), row.end(), 0.0f);
        for (std::int64_t p = 0; p < k; ++p) {
            const float factor = left[static_cast<std::size_t>(i * k + p)];
            const float* const from = right.data() + p * n;
            for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] += factor * from[j];
        }
        for (std::int64_t j = 0; j < n; ++j) finish(row[static_cast<std::size_t>(j)], i, j);
    }
}

std::vector<LibraryAlgorithm> algorithms() {
    std::vector<LibraryAlgorithm> all;
    for (int id = 0; id < library.rules.algorithms; ++id) all.push_back({.words = {}, .id = id});
    return all;
}

// Whether a plan lets compute() run, a function of copies; recorded then.
template <class Compute, class... Arguments>
bool run_planned(Exec& exec, const ProductKey& key, const Compute& compute, Arguments... arguments) {
    const auto fits = [&](const LibraryAlgorithm& algorithm) {
        return algorithm.id != 0 || activation_rows(key.shape) % library.rules.rows_of_first == 0;
    };
    const auto starts = [&](const LibraryAlgorithm& algorithm) {
        if (algorithm.id < library.rules.refused_at_start) return false;
        emulator::submit(exec.stream,
                         {.name = "product", .arguments = {emulator::bytes_of(arguments)...}, .run = compute});
        return true;
    };
    const LibraryAlgorithm* const ran = exec.products->plans.run(
        key, [](const ProductKey&) { return algorithms(); }, fits, starts);
    if (ran == nullptr) return false;
    record_product(exec, key.shape, ProductPath::library, ran);
    return true;
}

template <class Real>
void count_gelu() {
    ++(std::is_same_v<Real, float> ? library.calls.float_gelu : library.calls.bf16_gelu);
}

}  // namespace

namespace emulator {

void set_library(const LibraryRules& rules) {
    library.rules = rules;
}

LibraryCalls library_calls() {
    return library.calls;
}

void forget_library_calls() {
    library.calls = {};
}

}  // namespace emulator

template <class In, class Out>
bool library_gemm(Exec& exec, Out* c, Operand<In> a, Operand<In> b, std::int64_t m, std::int64_t n, std::int64_t k,
                  float beta, std::int64_t ldc) {
    if (!library.rules.takes_products) return false;
    return run_planned(
        exec, product_key(exec, c, a, b, m, n, k, ldc),
        [=] {
            ++library.calls.products;
            multiply(a, b, m, n, k, [&](float sum, std::int64_t i, std::int64_t j) {
                Out& to = c[i * ldc + j];
                to = from_float<Out>(beta == 0 ? sum : sum + beta * to_float(to));  // without beta, c may be NaN
            });
        },
        c, a.data, b.data, m, n, k, beta, ldc);
}

template <class Real>
bool library_bias_activation(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias,
                             std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    const bool is_gelu = act == Activation::gelu_tanh;
    if (!library.rules.takes_epilogues || rows == 0 || bias == nullptr || (pre != nullptr && !is_gelu)) return false;
    const Epilogue epilogue = !is_gelu ? Epilogue::bias : pre != nullptr ? Epilogue::gelu_keeping_pre : Epilogue::gelu;
    const Operand<Real> a{x}, b{w, true};
    return run_planned(
        exec, product_key(exec, y, a, b, rows, out, in, out, epilogue, bias, pre),
        [=] {
            ++library.calls.bias;
            if (is_gelu) count_gelu<Real>();
            multiply<Real>(a, b, rows, out, in, [&](float sum, std::int64_t i, std::int64_t j) {
                // The activation may be of what is not rounded yet, as a library is free to take it.
                const float z = sum + to_float(bias[j]);
                if (pre != nullptr) pre[i * out + j] = from_float<Real>(z);
                y[i * out + j] = from_float<Real>(is_gelu ? reference::gelu_tanh(z) : z);
            });
        },
        y, pre, x, w, bias, rows, in, out, epilogue);
}

template <class Real>
bool library_activation_gradient(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre,
                                 std::int64_t rows, std::int64_t in, std::int64_t out, Activation) {
    if (!library.rules.takes_epilogues || rows == 0) return false;
    const Operand<Real> a{dy}, b{w};
    const ProductKey key = product_key(exec, dx, a, b, rows, in, out, in, Epilogue::gelu_gradient, nullptr, pre);
    return run_planned(
        exec, key,
        [=] {
            count_gelu<Real>();
            multiply<Real>(a, b, rows, in, out, [&](float sum, std::int64_t i, std::int64_t j) {
                dx[i * in + j] = from_float<Real>(sum * reference::gelu_tanh_derivative(to_float(pre[i * in + j])));
            });
        },
        dx, dy, w, pre, rows, in, out);
}

template bool library_gemm<float, float>(Exec&, float*, Operand<float>, Operand<float>, std::int64_t, std::int64_t,
                                         std::int64_t, float, std::int64_t);
template bool library_gemm<bf16, bf16>(Exec&, bf16*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t,
                                       std::int64_t, float, std::int64_t);
template bool library_gemm<bf16, float>(Exec&, float*, Operand<bf16>, Operand<bf16>, std::int64_t, std::int64_t,
                                        std::int64_t, float, std::int64_t);
template bool library_bias_activation(Exec&, float*, float*, const float*, const float*, const float*, std::int64_t,
                                      std::int64_t, std::int64_t, Activation);
template bool library_bias_activation(Exec&, bf16*, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                      std::int64_t, std::int64_t, Activation);
template bool library_activation_gradient(Exec&, float*, const float*, const float*, const float*, std::int64_t,
                                          std::int64_t, std::int64_t, Activation);
template bool library_activation_gradient(Exec&, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                          std::int64_t, std::int64_t, Activation);

}  // namespace deft::kernels::cuda
