#pragma once
// Cases of pooling, and of the patches of images.

#include "kernels/cases/case_table.h"
#include "kernels/reference/pooling.h"

namespace deft::kernels::cases {

struct PoolShape {
    std::int64_t B, K, C;
};

inline std::vector<PoolShape> pool_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<PoolShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T, m.C});
        return shapes;
    }
    return {{1, 1, 1}, {3, 17, 33}, {2, 5, 259}, {4, 64, 64}};
}

inline std::string pooling_text(Pooling pooling) {
    return pooling == Pooling::first ? " first" : " mean";
}

inline OpCase pool_forward_case(Draw draw, PoolShape s, Pooling pooling) {
    OpCase op;
    op.name = shape_text("pool_forward", s.B, s.K, s.C) + pooling_text(pooling);
    op.buffers = {output("y", s.B * s.C), draw.input("x", s.B * s.K * s.C, 1, 0.5)};
    op.set_run([=](auto& exec, const auto& b) { pool_forward(exec, b[0], b[1], s.B, s.K, s.C, pooling); });
    op.set_work(pool_forward_work(s.B, s.K, s.C, pooling));
    return op;
}

inline OpCase pool_backward_case(Draw draw, PoolShape s, Pooling pooling, Accumulate accumulate) {
    const bool adds = accumulate == Accumulate::yes;
    OpCase op;
    op.name = shape_text("pool_backward", s.B, s.K, s.C) + pooling_text(pooling) + (adds ? " accumulate" : "");
    op.buffers = {adds ? draw.update("dx", s.B * s.K * s.C) : output("dx", s.B * s.K * s.C),
                  draw.input("dy", s.B * s.C)};
    op.buffers[0].floor = 1e-6;  // most are 0, or parts of K
    op.set_run([=](auto& exec, const auto& b) { pool_backward(exec, b[0], b[1], s.B, s.K, s.C, pooling, accumulate); });
    op.derivative.gradients = {{0, std::nullopt}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> y(static_cast<std::size_t>(s.B * s.C));
        reference::pool_forward<double>(exec, y.data(), variable[0], s.B, s.K, s.C, pooling);
        return weighted_sum(b[1], y);
    };
    op.set_work(pool_backward_work(s.B, s.K, s.C, pooling, accumulate));
    return op;
}

inline std::vector<PatchShape> patch_shapes(Sizes sizes) {
    if (sizes == Sizes::model) return {{32, 32, 32, 3, 4}, {4, 224, 224, 3, 16}};
    return {{1, 1, 1, 1, 1}, {2, 6, 9, 3, 3}, {3, 20, 10, 1, 5}, {2, 8, 12, 4, 2}};
}

inline OpCase patchify_case(Draw draw, PatchShape s, bool of_bytes) {
    s.scale = 0.125;
    s.shift = -2;
    OpCase op;
    op.name = shape_text("patchify", s.B, s.H, s.W, s.channels, s.P) + (of_bytes ? " u8" : "");
    Buffer images = stored_as(Item::single, draw.input("images", s.values()));
    if (of_bytes) {
        images = integer_input("images", draw.integers(s.values(), 256));
        images.item = Item::byte;
    }
    op.buffers = {output("out", s.values()), images};
    op.set_run([=](auto& exec, const auto& b) {
        if (of_bytes)
            patchify(exec, b[0], b.byte(1), s);
        else
            patchify(exec, b[0], b.single(1), s);
    });
    op.set_work(patchify_work(s, of_bytes ? 1 : 4));
    return op;
}

inline void add_pooling_cases(CaseTable& table) {
    for (const PoolShape& s : pool_shapes(table.sizes()))
        for (const Pooling pooling : {Pooling::first, Pooling::mean}) {
            table.add([=](Draw draw) { return pool_forward_case(draw, s, pooling); });
            for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes})
                table.add([=](Draw draw) { return pool_backward_case(draw, s, pooling, accumulate); });
        }
    for (const PatchShape& s : patch_shapes(table.sizes()))
        for (const bool of_bytes : {false, true})
            table.add([=](Draw draw) { return patchify_case(draw, s, of_bytes); });
}

}  // namespace deft::kernels::cases
