#pragma once
// Cases of rotary position embedding.

#include "kernels/cases/case_table.h"
#include "kernels/reference/rope.h"

namespace deft::kernels::cases {

struct RopeSizes {
    std::int64_t B, K, heads, d;
    std::int64_t beside = 0;  // values of a row that belong to no head
};

inline std::vector<RopeSizes> rope_sizes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<RopeSizes> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T, m.H, m.C / m.H, 2 * m.C});
        return shapes;
    }
    return {{1, 1, 1, 2}, {2, 5, 1, 6, 3}, {3, 17, 3, 10, 1}, {1, 33, 2, 34}, {2, 9, 2, 140, 5}, {2, 7, 3, 48, 8}};
}

enum class RopeForm { forward, in_place, inverse };

inline OpCase rope_case(Draw draw, RopeSizes s, bool has_position, RopeForm form) {
    const bool in_place = form == RopeForm::in_place, inverse = form == RopeForm::inverse;
    const std::int64_t rows = s.B * s.K, stride = s.heads * s.d + s.beside;
    OpCase op;
    op.name = shape_text("rope", s.B, s.K, s.heads, s.d) + (has_position ? " positions" : "") +
              (in_place  ? " in place"
               : inverse ? " inverse"
                         : "");
    op.buffers = {draw.update(inverse ? "dx" : "y", rows * stride),
                  draw.input(inverse ? "dy" : "x", in_place ? 0 : rows * stride),
                  integer_input("position", draw.integers(has_position ? rows : 0, 4096))};
    const auto shape = [=](const std::int32_t* position) {
        return RopeShape{s.B, s.K, s.heads, s.d, 10000, has_position ? position : nullptr};
    };
    op.set_run([=](auto& exec, const auto& b) {
        rope(exec, b[0], stride, in_place ? b[0] : b[1], stride, shape(b.index(2)),
             inverse ? RopeTurn::back : RopeTurn::forward);
    });
    if (inverse) {
        op.derivative.gradients = {{0, std::nullopt}};
        op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
            std::vector<double> y(static_cast<std::size_t>(rows * stride));
            reference::rope<double>(exec, y.data(), stride, variable[0], stride, shape(b.index(2)), RopeTurn::forward);
            return weighted_sum(b[1], y);
        };
    }
    op.set_work(rope_work(rows, s.heads, s.d, has_position));
    return op;
}

inline void add_rope_cases(CaseTable& table) {
    for (const RopeSizes& s : rope_sizes(table.sizes()))
        for (const bool has_position : {false, true})
            for (const RopeForm form : {RopeForm::forward, RopeForm::in_place, RopeForm::inverse}) {
                if (table.sizes() == Sizes::model && form != RopeForm::in_place) continue;
                table.add([=](Draw draw) { return rope_case(draw, s, has_position, form); });
            }
}

}  // namespace deft::kernels::cases
