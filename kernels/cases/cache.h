#pragma once
// Cases of the cache of keys and values.

#include "kernels/cases/case_table.h"
#include "kernels/reference/cache.h"

namespace deft::kernels::cases {

// Rows for the first tokens of a text, which all samples share, or for more tokens of each sample.
struct CacheShape {
    CacheRows rows;
    std::int64_t last_position = 0;  // of the first sample, before which the others' lie; 0: no positions
};

inline std::vector<CacheShape> cache_shapes(Sizes sizes) {
    std::vector<CacheShape> shapes;
    if (sizes == Sizes::model) {
        for (const ModelSizes& m : model_sizes()) {
            shapes.push_back({{m.B, m.T, m.C, 1, m.kept(), 3 * m.C}, 0});
            shapes.push_back({{m.B, m.T, m.C, m.B, 1, 3 * m.C}, m.kept()});
        }
        return shapes;
    }
    return {{{1, 1, 1, 1, 1, 1}, 0},   {{3, 7, 5, 1, 4, 17}, 0},      {{3, 7, 5, 3, 1, 17}, 6},
            {{2, 9, 33, 2, 3, 40}, 4}, {{1, 70, 130, 1, 67, 131}, 3}, {{5, 40, 192, 1, 33, 600}, 7},
            {{4, 8, 16, 4, 1, 48}, 2}};
}

inline OpCase cache_rows_case(Draw draw, const CacheShape& shape) {
    const CacheRows s = shape.rows;
    const bool has_positions = shape.last_position > 0;
    std::vector<std::int32_t> positions;  // (samples)
    for (std::int64_t sample = 0; has_positions && sample < s.samples; ++sample)
        positions.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, shape.last_position - sample)));
    OpCase op;
    op.name = shape_text("cache_rows", s.samples, s.T, s.C, s.K) + (s.B == 1 && s.samples > 1 ? " shared" : "");
    op.buffers = {draw.update("cache", s.samples * s.T * s.C), draw.input("x", s.B * s.K * s.x_stride),
                  integer_input("position", positions)};
    op.set_run([=](auto& exec, const auto& b) {
        CacheRows rows = s;
        if (has_positions) rows.position = b.index(2);
        cache_rows(exec, b[0], b[1], rows);
    });
    op.set_work(cache_rows_work(s, has_positions));
    op.tolerance = 0;
    op.roundings = 0;
    return op;
}

inline void add_cache_cases(CaseTable& table) {
    for (const CacheShape& s : cache_shapes(table.sizes()))
        table.add([=](Draw draw) { return cache_rows_case(draw, s); });
}

}  // namespace deft::kernels::cases
