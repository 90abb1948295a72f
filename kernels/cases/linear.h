#pragma once
// Cases of the linear layers.

#include "kernels/cases/case_table.h"
#include "kernels/cuda/gemm.h"

namespace deft::kernels::cases {

struct LinearShape {
    std::int64_t rows, in, out;
};

inline std::vector<LinearShape> linear_shapes() {
    return {{1, 1, 1},      {3, 17, 33},    {65, 1, 129},  {129, 65, 1}, {33, 129, 17}, {300, 65, 600},
            {512, 64, 192}, {523, 17, 512}, {1, 129, 200}, {5, 65, 70},  {8, 32, 64},   {9, 33, 65}};
}

// keeps_pre: the pre-activation is written too.
inline OpCase linear_forward_case(Draw draw, LinearShape s, bool has_bias, bool keeps_pre, Activation act) {
    OpCase op;
    op.name = shape_text("linear_forward", s.rows, s.in, s.out) + (has_bias ? " bias" : "") +
              (keeps_pre ? " pre" : "") + activation_text(act);
    op.buffers = {output("y", s.rows * s.out), output("pre", keeps_pre ? s.rows * s.out : 0),
                  draw.input("x", s.rows * s.in), draw.input("w", s.out * s.in, 1 / std::sqrt(s.in)),
                  draw.input("bias", has_bias ? s.out : 0)};
    op.roundings = 4;  // of the product, of the sum with a bias that may cancel it, of its activation
    op.set_run([=](auto& exec, const auto& b) {
        linear_forward(exec, b[0], keeps_pre ? b[1] : nullptr, b[2], b[3], has_bias ? b[4] : nullptr, s.rows, s.in,
                       s.out, act);
    });
    op.set_work(linear_forward_work(s.rows, s.in, s.out, has_bias, keeps_pre));
    return op;
}

inline OpCase linear_backward_input_case(Draw draw, LinearShape s, Activation act,
                                         Accumulate accumulate = Accumulate::no) {
    OpCase op;
    const bool activated = act != Activation::none;
    op.name = shape_text("linear_backward_input", s.rows, s.in, s.out) + activation_text(act) +
              (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {accumulate == Accumulate::yes ? draw.update("dx", s.rows * s.in) : output("dx", s.rows * s.in),
                  draw.input("dy", s.rows * s.out), draw.input("w", s.out * s.in, 1 / std::sqrt(s.out)),
                  draw.input("pre", activated ? s.rows * s.in : 0)};
    op.roundings = 2;
    op.set_run([=](auto& exec, const auto& b) {
        linear_backward_input(exec, b[0], b[1], b[2], activated ? b[3] : nullptr, s.rows, s.in, s.out, act, accumulate);
    });
    op.workspace = [=](int threads) {
        return cpu::linear_backward_input_workspace(threads, s.rows, s.in, act, accumulate);
    };
    op.set_cuda_workspace([=](auto) { return cuda::linear_backward_input_workspace(s.rows, s.in, act, accumulate); });
    // The layer that follows an activation: derivative by pre if present, else by the layer's own input.
    op.derivative.gradients = {{0, activated ? std::optional<std::size_t>(3) : std::nullopt}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> x(variable[0], variable[0] + s.rows * s.in), y(static_cast<std::size_t>(s.rows * s.out));
        for (double& value : x) value = reference::activate(act, value);
        reference::linear_forward<double>(exec, y.data(), nullptr, x.data(), b[2], nullptr, s.rows, s.in, s.out,
                                          Activation::none);
        return weighted_sum(b[1], y);
    };
    op.set_work(linear_backward_input_work(s.rows, s.in, s.out, activated, accumulate));
    return op;
}

inline OpCase linear_backward_weight_case(Draw draw, LinearShape s, bool has_bias, Accumulate accumulate) {
    OpCase op;
    op.name = shape_text("linear_backward_weight", s.rows, s.in, s.out) + (has_bias ? " bias" : "") +
              (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {gradient(draw, "dw", s.out * s.in, accumulate),
                  gradient(draw, "dbias", has_bias ? s.out : 0, accumulate), draw.input("dy", s.rows * s.out),
                  draw.input("x", s.rows * s.in)};
    op.set_run([=](auto& exec, const auto& b) {
        linear_backward_weight(exec, b.sum(0), has_bias ? b.sum(1) : nullptr, b[2], b[3], s.rows, s.in, s.out,
                               accumulate);
    });
    op.derivative.gradients = {{0, std::nullopt}};
    if (has_bias) op.derivative.gradients.push_back({1, std::nullopt});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> y(static_cast<std::size_t>(s.rows * s.out));
        reference::linear_forward<double>(exec, y.data(), nullptr, b[3], variable[0], has_bias ? variable[1] : nullptr,
                                          s.rows, s.in, s.out, Activation::none);
        return weighted_sum(b[2], y);
    };
    op.workspace = [=](int threads) { return cpu::linear_backward_weight_workspace(threads, s.rows, s.in, s.out); };
    op.set_cuda_workspace([=](auto) { return cuda::linear_backward_weight_workspace(s.rows, s.in, s.out); });
    op.set_work(linear_backward_weight_work(s.rows, s.in, s.out, has_bias, accumulate));
    return op;
}

// Every linear layer of a block: qkv and projection, up with its GELU, down whose input has one.
inline void add_block_cases(CaseTable& table, const ModelSizes& m) {
    const auto layer = [&](LinearShape s, bool gelu_behind, bool gelu_before) {
        table.add([=](Draw draw) {
            const Activation act = gelu_behind ? Activation::gelu_tanh : Activation::none;
            return linear_forward_case(draw, s, true, gelu_behind, act);
        });
        table.add([=](Draw draw) {
            return linear_backward_input_case(draw, s, gelu_before ? Activation::gelu_tanh : Activation::none);
        });
        table.add([=](Draw draw) { return linear_backward_weight_case(draw, s, true, Accumulate::no); });
    };
    layer({m.rows(), m.C, 3 * m.C}, false, false);
    layer({m.rows(), m.C, m.C}, false, false);
    layer({m.rows(), m.C, 4 * m.C}, true, false);
    layer({m.rows(), 4 * m.C, m.C}, false, true);
}

inline void add_linear_cases(CaseTable& table) {
    if (table.sizes() == Sizes::model)
        for (const ModelSizes& m : model_sizes()) add_block_cases(table, m);
    else
        for (const LinearShape& s : linear_shapes()) {
            table.add([=](Draw draw) { return linear_forward_case(draw, s, true, true, Activation::gelu_tanh); });
            table.add([=](Draw draw) { return linear_forward_case(draw, s, true, true, Activation::gelu_erf); });
            table.add([=](Draw draw) { return linear_forward_case(draw, s, true, false, Activation::none); });
            table.add([=](Draw draw) { return linear_forward_case(draw, s, false, true, Activation::none); });
            table.add([=](Draw draw) { return linear_backward_input_case(draw, s, Activation::gelu_tanh); });
            table.add([=](Draw draw) { return linear_backward_input_case(draw, s, Activation::gelu_erf); });
            table.add([=](Draw draw) { return linear_backward_input_case(draw, s, Activation::none); });
            for (const Activation act : {Activation::none, Activation::gelu_tanh, Activation::gelu_erf})
                table.add([=](Draw draw) { return linear_backward_input_case(draw, s, act, Accumulate::yes); });
            table.add([=](Draw draw) { return linear_backward_weight_case(draw, s, true, Accumulate::yes); });
            table.add([=](Draw draw) { return linear_backward_weight_case(draw, s, true, Accumulate::no); });
            table.add([=](Draw draw) { return linear_backward_weight_case(draw, s, false, Accumulate::no); });
        }
}

// Cases of our own matrix product on a GPU, which runs where the library refuses one.

struct ProductShape {
    std::int64_t m, n, k;
    bool a_transposed, b_transposed;
};

inline std::vector<ProductShape> product_shapes(Sizes sizes) {
    if (sizes == Sizes::model) return {{512, 768, 768, false, true}};
    return {{1, 1, 1, false, false},
            {65, 33, 40, false, false},
            {3, 129, 17, false, true},
            {70, 5, 16, true, false},
            {67, 66, 33, true, true}};
}

// c (m, n) = or += a b, in double.
inline void multiply_in_double(double* c, const double* a, const double* b, const ProductShape& s, bool adds) {
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t j = 0; j < s.n; ++j) {
            double sum = 0;
            for (std::int64_t p = 0; p < s.k; ++p)
                sum += a[s.a_transposed ? p * s.m + i : i * s.k + p] * b[s.b_transposed ? j * s.k + p : p * s.n + j];
            c[i * s.n + j] = adds ? c[i * s.n + j] + sum : sum;
        }
}

// into_sums: c is as gradients of weights are, and may be added to.
inline OpCase tiled_gemm_case(Draw draw, ProductShape s, bool into_sums, Accumulate accumulate) {
    const bool adds = accumulate == Accumulate::yes;
    OpCase op;
    op.name = shape_text("tiled_gemm", s.m, s.n, s.k) + (s.a_transposed ? " a^T" : "") +
              (s.b_transposed ? " b^T" : "") + (into_sums ? " sums" : "") + (adds ? " accumulate" : "");
    op.buffers = {into_sums ? gradient(draw, "c", s.m * s.n, accumulate) : output("c", s.m * s.n),
                  draw.input("a", s.m * s.k), draw.input("b", s.k * s.n, 1 / std::sqrt(s.k))};
    op.reference = [=](reference::Exec&, const Arguments<double>& b) {
        multiply_in_double(into_sums ? b.sum(0) : b[0], b[1], b[2], s, adds);
    };
    if constexpr (cuda::kBuilt) {
        const auto run = [=]<class Real>(cuda::Exec& exec, const Arguments<Real>& b) {
            const cuda::Operand<Real> left{b[1], s.a_transposed}, right{b[2], s.b_transposed};
            const float beta = adds ? 1.0f : 0.0f;
            if (into_sums)
                cuda::tiled_gemm<Real, float>(exec, b.sum(0), left, right, s.m, s.n, s.k, beta);
            else
                cuda::tiled_gemm<Real, Real>(exec, b[0], left, right, s.m, s.n, s.k, beta);
        };
        op.cuda_f32 = run;
        op.cuda_bf16 = run;
    }
    // One product, as of a layer's input gradient or of its weight's.
    op.set_work(into_sums ? linear_backward_weight_work(s.k, s.n, s.m, false, accumulate)
                          : linear_backward_input_work(s.m, s.n, s.k, false, accumulate));
    return op;
}

// Tensor cores take rows of operands that begin at multiples of 16 bytes, k a multiple of 8 where they run along it.
inline std::vector<ProductShape> tensor_product_shapes() {
    return {{130, 137, 72, false, true}, {1, 3, 8, false, true},      {65, 256, 40, false, false},
            {129, 8, 200, false, false}, {136, 40, 161, true, false}, {8, 264, 33, true, false},
            {16, 24, 1, true, false},    {8, 16, 200, false, true},   {8, 16, 200, false, false},
            {8, 16, 200, true, false}};
}

// In bf16 alone. Otherwise as tiled_gemm_case.
inline OpCase tensor_gemm_case(Draw draw, ProductShape s, bool into_sums, Accumulate accumulate) {
    OpCase op = tiled_gemm_case(draw, s, into_sums, accumulate);
    op.name.replace(0, op.name.find(' '), "tensor_gemm");
    if constexpr (cuda::kBuilt)
        op.cuda_bf16 = [=](cuda::Exec& exec, const Arguments<bf16>& b) {
            const cuda::Operand<bf16> left{b[1], s.a_transposed}, right{b[2], s.b_transposed};
            const float beta = accumulate == Accumulate::yes ? 1.0f : 0.0f;
            const bool fits = into_sums ? cuda::tensor_gemm(exec, b.sum(0), left, right, s.m, s.n, s.k, beta)
                                        : cuda::tensor_gemm(exec, b[0], left, right, s.m, s.n, s.k, beta);
            if (fits) return;  // not where buffers begin anywhere
            into_sums ? cuda::tiled_gemm<bf16, float>(exec, b.sum(0), left, right, s.m, s.n, s.k, beta)
                      : cuda::tiled_gemm<bf16, bf16>(exec, b[0], left, right, s.m, s.n, s.k, beta);
        };
    return op;
}

inline void add_gemm_cases(CaseTable& table) {
    if (table.sizes() == Sizes::odd)
        for (const ProductShape& s : tensor_product_shapes()) {
            table.add([=](Draw draw) { return tensor_gemm_case(draw, s, false, Accumulate::no); });
            table.add([=](Draw draw) { return tensor_gemm_case(draw, s, true, Accumulate::yes); });
        }

    for (const ProductShape& s : product_shapes(table.sizes())) {
        table.add([=](Draw draw) { return tiled_gemm_case(draw, s, false, Accumulate::no); });
        if (table.sizes() == Sizes::model) continue;
        table.add([=](Draw draw) { return tiled_gemm_case(draw, s, true, Accumulate::yes); });
    }
}

}  // namespace deft::kernels::cases
