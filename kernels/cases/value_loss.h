#pragma once
// Cases of one number a sample and its squared error.

#include "kernels/cases/case_table.h"
#include "kernels/reference/value_loss.h"

namespace deft::kernels::cases {

struct ValueShape {
    std::int64_t B, C;
};

inline std::vector<ValueShape> value_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<ValueShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.C});
        return shapes;
    }
    return {{1, 1}, {3, 33}, {9, 259}, {17, 64}, {2, 513}};
}

inline OpCase value_loss_case(Draw draw, ValueShape s) {
    OpCase op;
    op.name = shape_text("value_loss", s.B, s.C);
    op.buffers = {stored_as(Item::sum, output("loss", s.B)),
                  stored_as(Item::sum, output("value", s.B)),
                  draw.input("x", s.B * s.C),
                  draw.input("w", s.C),
                  draw.input("bias", 1),
                  stored_as(Item::single, draw.input("target", s.B))};
    op.set_run([=](auto& exec, const auto& b) {
        value_loss(exec, b.sum(0), b.sum(1), b[2], b[3], b[4], b.single(5), s.B, s.C);
    });
    op.set_work(value_loss_work(s.B, s.C));
    return op;
}

inline OpCase value_loss_train_case(Draw draw, ValueShape s, Accumulate accumulate) {
    constexpr double kScale = 0.3;
    OpCase op;
    op.name = shape_text("value_loss_train", s.B, s.C) + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {stored_as(Item::sum, output("loss", s.B)),
                  stored_as(Item::sum, output("value", s.B)),
                  output("dx", s.B * s.C),
                  gradient(draw, "dw", s.C, accumulate),
                  gradient(draw, "dbias", 1, accumulate),
                  draw.input("x", s.B * s.C),
                  draw.input("w", s.C),
                  draw.input("bias", 1),
                  stored_as(Item::single, draw.input("target", s.B))};
    op.set_run([=](auto& exec, const auto& b) {
        value_loss_train(exec, b.sum(0), b.sum(1), b[2], b.sum(3), b.sum(4), b[5], b[6], b[7], b.single(8), s.B, s.C,
                         kScale, accumulate);
    });
    op.derivative.gradients = {{2, 5}, {3, 6}, {4, 7}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> loss(static_cast<std::size_t>(s.B)), value(loss.size());
        reference::value_loss<double>(exec, loss.data(), value.data(), variable[0], variable[1], variable[2],
                                      b.single(8), s.B, s.C);
        double sum = 0;
        for (const double of_sample : loss) sum += of_sample;
        return kScale * sum;
    };
    op.set_work(value_loss_train_work(s.B, s.C, accumulate));
    return op;
}

inline void add_value_loss_cases(CaseTable& table) {
    for (const ValueShape& s : value_shapes(table.sizes())) {
        table.add([=](Draw draw) { return value_loss_case(draw, s); });
        for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes})
            table.add([=](Draw draw) { return value_loss_train_case(draw, s, accumulate); });
    }
}

}  // namespace deft::kernels::cases
