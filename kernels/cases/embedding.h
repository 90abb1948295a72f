#pragma once
// Cases of the embeddings.

#include "kernels/cases/op_case.h"

namespace deft::kernels::cases {

struct EmbeddingShape {
    std::int64_t B, T, C, V, max_T;
};

inline std::vector<EmbeddingShape> embedding_shapes() {
    return {{1, 1, 1, 1, 1}, {2, 3, 17, 5, 3}, {3, 17, 33, 129, 20}, {2, 65, 129, 33, 65}, {8, 64, 64, 257, 64}};
}

inline OpCase embedding_forward_case(Draw draw, EmbeddingShape s) {
    const auto token = draw.integers(s.B * s.T, s.V);
    OpCase op;
    op.name = shape_text("embedding_forward", s.B, s.T, s.C, s.V, s.max_T);
    op.buffers = {output("out", s.B * s.T * s.C), draw.input("wte", s.V * s.C), draw.input("wpe", s.max_T * s.C)};
    op.set_run([=](auto& exec, auto* const* b) {
        embedding_forward(exec, b[0], token.data(), b[1], b[2], s.B, s.T, s.C, s.V);
    });
    op.flops = static_cast<double>(s.B * s.T * s.C);
    op.set_least_bytes();
    return op;
}

inline OpCase embedding_backward_case(Draw draw, EmbeddingShape s, Accumulate accumulate) {
    const auto token = draw.integers(s.B * s.T, s.V);
    OpCase op;
    op.name = shape_text("embedding_backward", s.B, s.T, s.C, s.V, s.max_T, accumulate == Accumulate::yes);
    op.buffers = {draw.update("dwte", s.V * s.C), gradient(draw, "dwpe", s.max_T * s.C, accumulate),
                  draw.input("dout", s.B * s.T * s.C)};
    op.set_run([=](auto& exec, auto* const* b) {
        embedding_backward(exec, b[0], b[1], b[2], token.data(), s.B, s.T, s.C, s.max_T, accumulate);
    });
    op.flops = 2.0 * static_cast<double>(s.B * s.T * s.C);
    op.set_least_bytes();
    return op;
}

inline void add_embedding_cases(std::vector<OpCase>& all, std::uint64_t seed) {
    for (const EmbeddingShape& s : embedding_shapes()) {
        all.push_back(embedding_forward_case(Draw(seed, all.size()), s));
        all.push_back(embedding_backward_case(Draw(seed, all.size()), s, Accumulate::no));
        all.push_back(embedding_backward_case(Draw(seed, all.size()), s, Accumulate::yes));
    }
}

}  // namespace deft::kernels::cases
