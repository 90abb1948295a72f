#pragma once
// Cases of the embeddings.

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

struct EmbeddingShape {
    std::int64_t B, T, C, V, max_T;
};

inline std::vector<EmbeddingShape> embedding_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<EmbeddingShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T, m.C, m.V, m.T});
        return shapes;
    }
    return {{1, 1, 1, 1, 1},      {1, 3, 40, 2, 3},     {2, 3, 17, 5, 3},
            {3, 17, 33, 129, 20}, {2, 65, 129, 33, 65}, {8, 64, 64, 257, 64}};
}

inline OpCase embedding_forward_case(Draw draw, EmbeddingShape s) {
    OpCase op;
    op.name = shape_text("embedding_forward", s.B, s.T, s.C, s.V, s.max_T);
    op.buffers = {output("out", s.B * s.T * s.C), draw.input("wte", s.V * s.C), draw.input("wpe", s.max_T * s.C),
                  integer_input("token", draw.integers(s.B * s.T, s.V))};
    op.set_run(
        [=](auto& exec, const auto& b) { embedding_forward(exec, b[0], b.index(3), b[1], b[2], s.B, s.T, s.C, s.V); });
    op.flops = static_cast<double>(s.B * s.T * s.C);
    op.set_least_bytes();
    return op;
}

inline OpCase embedding_backward_case(Draw draw, EmbeddingShape s, Accumulate accumulate) {
    OpCase op;
    op.name = shape_text("embedding_backward", s.B, s.T, s.C, s.V, s.max_T) +
              (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {gradient(draw, "dwte", s.V * s.C, Accumulate::yes), gradient(draw, "dwpe", s.max_T * s.C, accumulate),
                  draw.input("dout", s.B * s.T * s.C), integer_input("token", draw.integers(s.B * s.T, s.V))};
    op.set_run([=](auto& exec, const auto& b) {
        embedding_backward(exec, b.sum(0), b.sum(1), b[2], b.index(3), s.B, s.T, s.C, s.max_T, accumulate);
    });
    op.set_cuda_workspace([=](auto) { return cuda::embedding_backward_workspace(s.B, s.T); });
    op.flops = 2.0 * static_cast<double>(s.B * s.T * s.C);
    op.set_least_bytes();
    return op;
}

inline void add_embedding_cases(CaseTable& table) {
    for (const EmbeddingShape& s : embedding_shapes(table.sizes())) {
        table.add([=](Draw draw) { return embedding_forward_case(draw, s); });
        for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes})
            table.add([=](Draw draw) { return embedding_backward_case(draw, s, accumulate); });
    }
}

}  // namespace deft::kernels::cases
