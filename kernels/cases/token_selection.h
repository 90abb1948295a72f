#pragma once
// Cases of the selection of kept tokens: the same positions on every backend.

#include "kernels/cases/op_case.h"

namespace deft::kernels::cases {

struct SelectionShape {
    std::int64_t layers, B, T, K;
};

inline std::vector<SelectionShape> selection_shapes() {
    return {{1, 1, 1, 1}, {2, 3, 17, 5}, {2, 3, 129, 129}, {1, 2, 256, 1}, {3, 1, 300, 299}, {2, 2, 1000, 333}};
}

inline OpCase select_kept_tokens_case(Draw draw, SelectionShape s, std::uint64_t seed) {
    OpCase op;
    op.name = shape_text("select_kept_tokens", s.layers, s.B, s.T, s.K);
    op.buffers = {stored_as(Item::index, output("index", s.layers * s.B * s.K)),
                  integer_input("layer_id", draw.integers(s.layers, 100)),
                  stored_as(Item::id, integer_input("sample_id", draw.integers(s.B, 1 << 20)))};
    for (float& id : op.buffers[2].value) id *= 1 << 16;  // beyond 32 bits
    const std::int64_t step = 1000;
    op.set_run([=](auto& exec, const auto& b) {
        select_kept_tokens(exec, b.index(0), seed, step, b.index(1), s.layers, b.id(2), s.B, s.T, s.K);
    });
    op.workspace = [=](int threads) { return cpu::select_kept_tokens_workspace(threads, s.T); };
    op.tolerance = 0;
    op.set_least_bytes();
    return op;
}

inline void add_token_selection_cases(std::vector<OpCase>& all, std::uint64_t seed) {
    for (const SelectionShape& s : selection_shapes())
        all.push_back(select_kept_tokens_case(Draw(seed, all.size()), s, seed));
}

}  // namespace deft::kernels::cases
