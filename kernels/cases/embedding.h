#pragma once
// Cases of the embeddings, and of the head with its cross-entropy.

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

struct HeadShape {
    std::int64_t rows, C, V;
};

inline std::vector<HeadShape> head_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<HeadShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.head_rows(), m.C, m.V});
        return shapes;
    }
    return {{1, 1, 1}, {3, 17, 2}, {17, 33, 129}, {65, 129, 1025}, {300, 33, 257}, {513, 64, 65}};
}

// Every fifth target is ignored, but never all.
inline Buffer draw_targets(Draw& draw, const HeadShape& s) {
    Buffer target = integer_input("target", draw.integers(s.rows, s.V));
    for (std::size_t i = 4; i < target.value.size(); i += 5) target.value[i] = kIgnoreTarget;
    return target;
}

inline double head_flops(const HeadShape& s) {
    return 2.0 * static_cast<double>(s.rows) * static_cast<double>(s.C) * static_cast<double>(s.V);
}

inline OpCase head_loss_train_case(Draw draw, HeadShape s, Accumulate accumulate) {
    const double scale = 0.5;
    OpCase op;
    op.name = shape_text("head_loss_train", s.rows, s.C, s.V) + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {sum_output("loss", s.rows),
                  output("dx", s.rows * s.C),
                  gradient(draw, "dw", s.V * s.C, accumulate),
                  draw.input("x", s.rows * s.C),
                  draw.input("w", s.V * s.C, 1 / std::sqrt(s.C)),
                  draw_targets(draw, s)};
    op.buffers[2].of_rounded = true;  // of the logits' gradients
    op.roundings = 2;
    if (s.V == 1) op.buffers[0].floor = op.buffers[1].floor = op.buffers[2].floor = 1;  // certain of its only token
    op.set_run([=](auto& exec, const auto& b) {
        head_loss_train(exec, b.sum(0), b[1], b.sum(2), b[3], b[4], b.index(5), s.rows, s.C, s.V, scale, accumulate);
    });
    op.workspace = [=](int) { return cpu::head_loss_workspace(s.rows, s.C, s.V); };
    op.set_cuda_workspace([=](auto) { return cuda::head_loss_workspace(s.rows, s.C, s.V); });
    op.flops = 3 * head_flops(s);
    op.set_least_bytes();
    return op;
}

inline OpCase head_loss_case(Draw draw, HeadShape s) {
    OpCase op;
    op.name = shape_text("head_loss", s.rows, s.C, s.V);
    op.buffers = {sum_output("loss", s.rows), stored_as(Item::index, output("greedy", s.rows)),
                  draw.input("x", s.rows * s.C), draw.input("w", s.V * s.C, 1 / std::sqrt(s.C)), draw_targets(draw, s)};
    if (s.V == 1) op.buffers[0].floor = 1;
    op.set_run([=](auto& exec, const auto& b) {
        head_loss(exec, b.sum(0), b.index(1), b[2], b[3], b.index(4), s.rows, s.C, s.V);
    });
    op.workspace = [=](int) { return cpu::head_loss_workspace(s.rows, s.C, s.V); };
    op.set_cuda_workspace([=](auto) { return cuda::head_loss_workspace(s.rows, s.C, s.V); });
    op.flops = head_flops({s.rows - s.rows / 5, s.C, s.V});  // logits of the rows that have a target
    op.set_least_bytes();
    return op;
}

inline void add_head_loss_cases(CaseTable& table) {
    for (const HeadShape& s : head_shapes(table.sizes())) {
        table.add([=](Draw draw) { return head_loss_train_case(draw, s, Accumulate::no); });
        table.add([=](Draw draw) { return head_loss_train_case(draw, s, Accumulate::yes); });
        table.add([=](Draw draw) { return head_loss_case(draw, s); });
    }
}

}  // namespace deft::kernels::cases
