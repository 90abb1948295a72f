#pragma once
// Cases of our own matrix product on a GPU, which runs where the library refuses one.

#include "kernels/cases/case_table.h"
#include "kernels/cuda/gemm.h"

namespace deft::kernels::cases {

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
    op.flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    op.set_least_bytes();
    return op;
}

inline void add_gemm_cases(CaseTable& table) {
    for (const ProductShape& s : product_shapes(table.sizes())) {
        table.add([=](Draw draw) { return tiled_gemm_case(draw, s, false, Accumulate::no); });
        if (table.sizes() == Sizes::model) continue;
        table.add([=](Draw draw) { return tiled_gemm_case(draw, s, true, Accumulate::yes); });
    }
}

}  // namespace deft::kernels::cases
