#pragma once
// Cases of the cache of keys and values.

#include "kernels/cases/case_table.h"
#include "kernels/reference/cache.h"

namespace deft::kernels::cases {

// Rows for the first tokens of a text, which all samples share, or for one more token of each sample.
inline std::vector<CacheRows> cache_shapes(Sizes sizes) {
    std::vector<CacheRows> shapes;
    if (sizes == Sizes::model) {
        for (const ModelSizes& m : model_sizes()) {
            shapes.push_back({m.B, m.T, m.C, 1, m.kept(), 0, 3 * m.C});
            shapes.push_back({m.B, m.T, m.C, m.B, 1, m.kept(), 3 * m.C});
        }
        return shapes;
    }
    return {{1, 1, 1, 1, 1, 0, 1},   {3, 7, 5, 1, 4, 0, 17},      {3, 7, 5, 3, 1, 6, 17},
            {2, 9, 33, 2, 3, 4, 40}, {1, 70, 130, 1, 67, 3, 131}, {5, 40, 192, 1, 33, 7, 600}};
}

inline OpCase cache_rows_case(Draw draw, CacheRows s) {
    OpCase op;
    op.name = shape_text("cache_rows", s.samples, s.T, s.C, s.K) + (s.B == 1 && s.samples > 1 ? " shared" : "");
    op.buffers = {draw.update("cache", s.samples * s.T * s.C), draw.input("x", s.B * s.K * s.x_stride)};
    op.set_run([=](auto& exec, const auto& b) { cache_rows(exec, b[0], b[1], s); });
    op.set_work(cache_rows_work(s));
    op.tolerance = 0;
    op.roundings = 0;
    return op;
}

inline void add_cache_cases(CaseTable& table) {
    for (const CacheRows& s : cache_shapes(table.sizes()))
        table.add([=](Draw draw) { return cache_rows_case(draw, s); });
}

}  // namespace deft::kernels::cases
