#pragma once
// Cases of dropout.

#include "kernels/cases/case_table.h"
#include "kernels/reference/dropout.h"

namespace deft::kernels::cases {

struct DropoutShape {
    std::int64_t B, N;         // values of a sample
    std::int64_t columns = 0;  // of a row of packed samples, of which the longest has N values; 0: none are packed
};

inline std::vector<DropoutShape> dropout_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<DropoutShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T * m.C});
        return shapes;
    }
    return {{1, 1}, {3, 17}, {2, 512}, {5, 1031}, {4, 33, 3}, {6, 1050, 7}, {4, 264, 8}};
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
    op.name = shape_text("dropout", s.B, s.N) + (s.columns == 0 ? "" : " packed") + (p == 0 ? " p 0" : "") +
              (has_residual ? " residual" : "") + (is_backward ? " backward" : "");
    const Buffer start = s.columns == 0 ? integer_input("start", {}) : starts(draw, s.B, s.N / s.columns);
    const std::int64_t size = s.columns == 0 ? s.B * s.N : static_cast<std::int64_t>(start.value.back()) * s.columns;
    op.buffers = {output(is_backward ? "dx" : "y", size), draw.input(is_backward ? "dy" : "x", size),
                  draw.input("residual", has_residual ? size : 0), draw_numbers(draw, s.B), start};
    const auto key = [seed = draw.seed(), p, s](const auto& b) {
        return DropoutKey{seed, 1000, 3, b.id(3), p, s.columns == 0 ? nullptr : b.index(4), s.columns};
    };
    op.set_run(
        [=](auto& exec, const auto& b) { dropout(exec, b[0], b[1], has_residual ? b[2] : nullptr, s.B, s.N, key(b)); });
    if (is_backward) {
        op.derivative.gradients = {{0, std::nullopt}};
        op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
            std::vector<double> y(static_cast<std::size_t>(size));
            reference::dropout<double>(exec, y.data(), variable[0], nullptr, s.B, s.N, key(b));
            return weighted_sum(b[1], y);
        };
    }
    op.set_work(dropout_work(s.B, size, has_residual, s.columns > 0));
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
