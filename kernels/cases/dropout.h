#pragma once
// Cases of dropout.

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

struct DropoutShape {
    std::int64_t B, N;
};

inline std::vector<DropoutShape> dropout_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<DropoutShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T * m.C});
        return shapes;
    }
    return {{1, 1}, {3, 17}, {2, 512}, {5, 1031}};
}

// The numbers of draws, beyond 32 bits.
inline Buffer draw_numbers(Draw& draw, std::int64_t B) {
    Buffer numbers = stored_as(Item::id, integer_input("draw", draw.integers(B, 1 << 20)));
    for (float& number : numbers.value) number *= 1 << 16;
    return numbers;
}

// is_backward: of dy, for the check by finite differences; the op is its own backward op.
inline OpCase dropout_case(Draw draw, DropoutShape s, double p, bool has_residual, bool is_backward) {
    OpCase op;
    op.name = shape_text("dropout", s.B, s.N) + (p == 0 ? " p 0" : "") + (has_residual ? " residual" : "") +
              (is_backward ? " backward" : "");
    op.buffers = {output(is_backward ? "dx" : "y", s.B * s.N), draw.input(is_backward ? "dy" : "x", s.B * s.N),
                  draw.input("residual", has_residual ? s.B * s.N : 0), draw_numbers(draw, s.B)};
    const auto key = [seed = draw.seed(), p](const std::int64_t* numbers) {
        return DropoutKey{seed, 1000, 3, numbers, p};
    };
    op.set_run([=](auto& exec, const auto& b) {
        dropout(exec, b[0], b[1], has_residual ? b[2] : nullptr, s.B, s.N, key(b.id(3)));
    });
    if (is_backward) {
        op.derivative.gradients = {{0, std::nullopt}};
        op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
            std::vector<double> y(static_cast<std::size_t>(s.B * s.N));
            reference::dropout<double>(exec, y.data(), variable[0], nullptr, s.B, s.N, key(b.id(3)));
            return weighted_sum(b[1], y);
        };
    }
    op.set_work(dropout_work(s.B, s.N, has_residual));
    return op;
}

inline void add_dropout_cases(CaseTable& table) {
    for (const DropoutShape& s : dropout_shapes(table.sizes())) {
        table.add([=](Draw draw) { return dropout_case(draw, s, 0.1, false, false); });
        table.add([=](Draw draw) { return dropout_case(draw, s, 0.1, true, false); });
        if (table.sizes() == Sizes::model) continue;
        table.add([=](Draw draw) { return dropout_case(draw, s, 0.4, false, true); });
        table.add([=](Draw draw) { return dropout_case(draw, s, 0, false, false); });
    }
}

}  // namespace deft::kernels::cases
