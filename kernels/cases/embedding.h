#pragma once
// Cases of the embeddings, and of the head with its cross-entropy.

#include <array>

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

// The tables of one case: `by_id` of them, of V, V / 2 + 1, ... rows, and one by position, of max_T rows.
struct EmbeddingShape {
    std::int64_t B, T, C, V, max_T;
    int by_id = 1;
    bool by_position = true;

    int tables() const { return by_id + (by_position ? 1 : 0); }
    bool is_by_id(int table) const { return table < by_id; }
    std::int64_t rows(int table) const { return is_by_id(table) ? table == 0 ? V : V / (table + 1) + 1 : max_T; }
};

inline std::vector<EmbeddingShape> embedding_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<EmbeddingShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T, m.C, m.V, m.T});
        return shapes;
    }
    // The last three: few ids, more ids than a tile of their sort has, and ids of three digits.
    return {{1, 1, 1, 1, 1},
            {1, 3, 40, 2, 3},
            {2, 3, 17, 5, 3},
            {3, 17, 33, 129, 20},
            {2, 65, 129, 33, 65},
            {8, 64, 64, 257, 64},
            {2, 5, 33, 7, 0, 1, false},
            {2, 5, 17, 0, 6, 0},
            {3, 7, 65, 11, 9, 2},
            {2, 9, 24, 5, 9, 3},
            {4, 65, 24, 2, 65},
            {3, 700, 8, 300, 700},
            {1, 70, 1, 70001, 0, 1, false}};
}

inline std::string embedding_name(const char* op, const EmbeddingShape& s) {
    return shape_text(op, s.B, s.T, s.C, s.V, s.max_T) +
           (s.by_id == 1 ? "" : ", " + std::to_string(s.by_id) + " by id") +
           (s.by_position ? "" : ", none by position");
}

// Whether each table's gradient is written or added to.
using GradientsAccumulate = std::array<Accumulate, kMostEmbeddingTables>;

inline EmbeddingTableShapes table_shapes(const EmbeddingShape& s, const GradientsAccumulate& how = {}) {
    EmbeddingTableShapes shapes;
    for (int table = 0; table < s.tables(); ++table)
        shapes.table[shapes.count++] = {s.rows(table), s.is_by_id(table), how[static_cast<std::size_t>(table)]};
    return shapes;
}

// The ids of the tables that go by them.
inline void add_ids(OpCase& op, Draw& draw, const EmbeddingShape& s) {
    for (int table = 0; table < s.by_id; ++table)
        op.buffers.push_back(integer_input("id" + std::to_string(table), draw.tokens(s.B * s.T, s.rows(table))));
}

// weight(table), id(table): pointers.
template <class Real, class Weight, class Id>
EmbeddingTables<Real> embedding_tables(const EmbeddingShape& s, const Weight& weight, const Id& id) {
    EmbeddingTables<Real> tables;
    for (int i = 0; i < s.tables(); ++i)
        tables.table[tables.count++] = {weight(i), s.is_by_id(i) ? id(i) : nullptr, s.rows(i)};
    return tables;
}

inline OpCase embedding_forward_case(Draw draw, EmbeddingShape s) {
    OpCase op;
    op.name = embedding_name("embedding_forward", s);
    op.buffers = {output("out", s.B * s.T * s.C)};
    for (int table = 0; table < s.tables(); ++table)
        op.buffers.push_back(draw.input("weight" + std::to_string(table), s.rows(table) * s.C));
    add_ids(op, draw, s);
    op.set_run([=]<class Real>(auto& exec, const Arguments<Real>& b) {
        const auto weight = [&](int i) { return b[static_cast<std::size_t>(1 + i)]; };
        const auto id = [&](int i) { return b.index(static_cast<std::size_t>(1 + s.tables() + i)); };
        embedding_forward(exec, b[0], embedding_tables<Real>(s, weight, id), s.B, s.T, s.C);
    });
    op.set_work(embedding_forward_work(table_shapes(s), s.B, s.T, s.C));
    return op;
}

inline OpCase embedding_backward_case(Draw draw, EmbeddingShape s, GradientsAccumulate how) {
    OpCase op;
    op.name = embedding_name("embedding_backward", s);
    for (int table = 0; table < s.tables(); ++table) {
        const Accumulate accumulate = how[static_cast<std::size_t>(table)];
        op.name += accumulate == Accumulate::yes ? " add" : " write";
        op.buffers.push_back(gradient(draw, "dweight" + std::to_string(table), s.rows(table) * s.C, accumulate));
    }
    op.buffers.push_back(draw.input("dout", s.B * s.T * s.C));
    add_ids(op, draw, s);
    const auto dout = static_cast<std::size_t>(s.tables());
    op.set_run([=]<class Real>(auto& exec, const Arguments<Real>& b) {
        EmbeddingGradients<Sum<Real>> gradients;
        for (std::size_t i = 0; i < dout; ++i) {
            const int table = gradients.count++;
            gradients.table[i] = {b.sum(i), s.is_by_id(table) ? b.index(dout + 1 + i) : nullptr, s.rows(table), how[i]};
        }
        embedding_backward(exec, gradients, b[dout], s.B, s.T, s.C);
    });
    for (std::size_t i = 0; i < dout; ++i) op.derivative.gradients.push_back({i, std::nullopt});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> out(static_cast<std::size_t>(s.B * s.T * s.C));
        const auto weight = [&](int i) { return variable[static_cast<std::size_t>(i)]; };
        const auto id = [&](int i) { return b.index(dout + 1 + static_cast<std::size_t>(i)); };
        reference::embedding_forward(exec, out.data(), embedding_tables<double>(s, weight, id), s.B, s.T, s.C);
        return weighted_sum(b[dout], out);
    };
    op.set_cuda_workspace([=](auto) { return cuda::embedding_backward_workspace(s.B, s.T, s.C); });
    op.set_work(embedding_backward_work(table_shapes(s, how), s.B, s.T, s.C));
    return op;
}

inline void add_embedding_cases(CaseTable& table) {
    using enum Accumulate;
    for (const EmbeddingShape& s : embedding_shapes(table.sizes())) {
        table.add([=](Draw draw) { return embedding_forward_case(draw, s); });
        // A tied head has written the first gradient; a second micro-batch adds to all; nothing was there before.
        table.add([=](Draw draw) { return embedding_backward_case(draw, s, {yes, no, yes, no}); });
        table.add([=](Draw draw) { return embedding_backward_case(draw, s, {yes, yes, yes, yes}); });
        if (table.sizes() == Sizes::odd)
            table.add([=](Draw draw) { return embedding_backward_case(draw, s, {no, yes, no, no}); });
    }
}

enum class Ignored { fifth, none, most };

struct HeadShape {
    std::int64_t rows, C, V;
    bool has_bias = false;
    Ignored ignored = Ignored::fifth;

    // Every fifth row is without one, or only every fifth has one.
    bool has_target(std::int64_t row) const {
        const bool is_fifth = row % 5 == 4;
        return ignored == Ignored::none || is_fifth == (ignored == Ignored::most);
    }
    std::int64_t target_rows() const {
        return ignored == Ignored::none ? rows : ignored == Ignored::most ? rows / 5 : rows - rows / 5;
    }
};

inline std::vector<HeadShape> head_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<HeadShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.head_rows(), m.C, m.V});
        return shapes;
    }
    return {{1, 1, 1},
            {3, 17, 2},
            {17, 33, 129},
            {65, 129, 1025},
            {300, 33, 257},
            {513, 64, 65},
            {3, 17, 2, true, Ignored::none},
            {17, 33, 65, true},
            {9, 17, 3, true, Ignored::most},
            {4, 5, 7, true, Ignored::most},
            {321, 16, 33, true},
            {600, 17, 33, true, Ignored::none},
            {1345, 9, 17, true, Ignored::most}};
}

inline Buffer draw_targets(Draw& draw, const HeadShape& s) {
    Buffer target = integer_input("target", draw.integers(s.rows, s.V));
    for (std::int64_t row = 0; row < s.rows; ++row)
        if (!s.has_target(row)) target.value[static_cast<std::size_t>(row)] = kIgnoreTarget;
    return target;
}

inline std::string head_name(const char* op, const HeadShape& s) {
    return shape_text(op, s.rows, s.C, s.V) + (s.has_bias ? " bias" : "") +
           (s.ignored == Ignored::none   ? " all targets"
            : s.ignored == Ignored::most ? " few targets"
                                         : "");
}

inline OpCase head_loss_train_case(Draw draw, HeadShape s, Accumulate accumulate) {
    const double scale = 0.5;
    OpCase op;
    op.name = head_name("head_loss_train", s) + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {sum_output("loss", s.rows),
                  output("dx", s.rows * s.C),
                  gradient(draw, "dw", s.V * s.C, accumulate),
                  draw.input("x", s.rows * s.C),
                  draw.input("w", s.V * s.C, 1 / std::sqrt(s.C)),
                  draw_targets(draw, s),
                  gradient(draw, "dbias", s.has_bias ? s.V : 0, accumulate),
                  draw.input("bias", s.has_bias ? s.V : 0)};
    // In bf16 logits and their gradients are rounded.
    op.buffers[0].of_rounded = op.buffers[2].of_rounded = op.buffers[6].of_rounded = true;
    op.roundings = 2;
    if (s.V == 1) op.buffers[0].floor = op.buffers[1].floor = op.buffers[2].floor = 1;  // certain of its only token
    op.set_run([=](auto& exec, const auto& b) {
        head_loss_train(exec, b.sum(0), b[1], b.sum(2), s.has_bias ? b.sum(6) : nullptr, b[3], b[4],
                        s.has_bias ? b[7] : nullptr, b.index(5), s.rows, s.target_rows(), s.C, s.V, scale, accumulate);
    });
    op.derivative.gradients = {{1, std::size_t{3}}, {2, std::size_t{4}}};
    if (s.has_bias) op.derivative.gradients.push_back({6, std::size_t{7}});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> loss(static_cast<std::size_t>(s.rows));
        reference::head_loss<double>(exec, loss.data(), nullptr, variable[0], variable[1],
                                     s.has_bias ? variable[2] : nullptr, b.index(5), s.rows, s.target_rows(), s.C, s.V);
        double total = 0;
        for (const double nats : loss) total += nats;
        return scale * total;
    };
    op.workspace = [=](int) { return cpu::head_loss_workspace(s.rows, s.C, s.V); };
    op.set_cuda_workspace([=](auto) { return cuda::head_loss_workspace(s.rows, s.C, s.V); });
    op.set_work(head_loss_train_work(s.rows, s.target_rows(), s.C, s.V, s.has_bias, accumulate));
    return op;
}

// The case on CUDA with rows of zeros after the weight's and its gradient's, in chunks of kMostRows rows.
inline OpCase padded_head_loss_train_case(Draw draw, HeadShape s, Accumulate accumulate) {
    constexpr std::int64_t kMostRows = 128;
    const double scale = 0.5;
    const std::int64_t weight_rows = cuda::padded_vocabulary(s.V);
    OpCase op = head_loss_train_case(draw, s, accumulate);
    op.name = head_name("head_loss_train", s) + " padded" + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers[2] = gradient(draw, "dw", weight_rows * s.C, accumulate);
    op.buffers[2].of_rounded = true;
    op.buffers[4].value.resize(static_cast<std::size_t>(weight_rows * s.C), 0.0f);
    op.reference = [=](reference::Exec& exec, const Arguments<double>& b) {
        reference::head_loss_train<double>(exec, b.sum(0), b[1], b.sum(2), s.has_bias ? b.sum(6) : nullptr, b[3], b[4],
                                           s.has_bias ? b[7] : nullptr, b.index(5), s.rows, s.target_rows(), s.C, s.V,
                                           scale, accumulate);
        if (accumulate == Accumulate::no) std::fill(b.sum(2) + s.V * s.C, b.sum(2) + weight_rows * s.C, 0.0);
    };
    if constexpr (cuda::kBuilt) {
        const auto run = [=](cuda::Exec& exec, const auto& b) {
            cuda::head_loss_train(exec, b.sum(0), b[1], b.sum(2), s.has_bias ? b.sum(6) : nullptr, b[3], b[4],
                                  s.has_bias ? b[7] : nullptr, b.index(5), s.rows, s.target_rows(), s.C, s.V, scale,
                                  accumulate, {weight_rows, kMostRows});
        };
        op.cuda_f32 = run;
        op.cuda_bf16 = run;
    }
    op.cpu = {};
    return op;
}

inline OpCase head_loss_case(Draw draw, HeadShape s) {
    OpCase op;
    op.name = head_name("head_loss", s);
    op.buffers = {sum_output("loss", s.rows),    stored_as(Item::index, output("greedy", s.rows)),
                  draw.input("x", s.rows * s.C), draw.input("w", s.V * s.C, 1 / std::sqrt(s.C)),
                  draw_targets(draw, s),         draw.input("bias", s.has_bias ? s.V : 0)};
    if (s.V == 1) op.buffers[0].floor = 1;
    op.set_run([=](auto& exec, const auto& b) {
        head_loss(exec, b.sum(0), b.index(1), b[2], b[3], s.has_bias ? b[5] : nullptr, b.index(4), s.rows,
                  s.target_rows(), s.C, s.V);
    });
    op.workspace = [=](int) { return cpu::head_loss_workspace(s.rows, s.C, s.V); };
    op.set_cuda_workspace([=](auto) { return cuda::head_loss_workspace(s.rows, s.C, s.V); });
    op.set_work(head_loss_work(s.rows, s.target_rows(), s.C, s.V, s.has_bias, true));
    return op;
}

inline void add_head_loss_cases(CaseTable& table) {
    for (const HeadShape& s : head_shapes(table.sizes())) {
        table.add([=](Draw draw) { return head_loss_train_case(draw, s, Accumulate::no); });
        table.add([=](Draw draw) { return head_loss_train_case(draw, s, Accumulate::yes); });
        table.add([=](Draw draw) { return head_loss_case(draw, s); });
    }
    if (table.sizes() == Sizes::model) return;
    for (const HeadShape& s :
         {HeadShape{3, 16, 130}, {300, 24, 257}, {140, 8, 33, true}, {700, 8, 100, false, Ignored::most}}) {
        table.add([=](Draw draw) { return padded_head_loss_train_case(draw, s, Accumulate::no); });
        table.add([=](Draw draw) { return padded_head_loss_train_case(draw, s, Accumulate::yes); });
    }
}

}  // namespace deft::kernels::cases
