#pragma once
// Cases of activations by themselves.

#include "kernels/cases/case_table.h"
#include "kernels/reference/activation.h"

namespace deft::kernels::cases {

struct ActivationShape {
    std::int64_t rows, cols;  // of the activation's output
};

inline std::vector<ActivationShape> activation_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<ActivationShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.rows(), 4 * m.C});
        return shapes;
    }
    return {{1, 1}, {3, 17}, {17, 33}, {65, 64}, {5, 1025}};
}

inline OpCase activation_forward_case(Draw draw, ActivationShape s, Activation act) {
    OpCase op;
    op.name = shape_text("activation_forward", s.rows, s.cols) + activation_text(act);
    op.buffers = {output("y", s.rows * s.cols), draw.input("pre", s.rows * columns_before(act, s.cols), 2)};
    op.set_run([=](auto& exec, const auto& b) { activation_forward(exec, b[0], b[1], s.rows, s.cols, act); });
    op.set_work(activation_forward_work(s.rows, s.cols, act));
    return op;
}

inline OpCase activation_backward_case(Draw draw, ActivationShape s, Activation act) {
    OpCase op;
    op.name = shape_text("activation_backward", s.rows, s.cols) + activation_text(act);
    op.buffers = {output("dpre", s.rows * columns_before(act, s.cols)), draw.input("dy", s.rows * s.cols),
                  draw.input("pre", s.rows * columns_before(act, s.cols), 2)};
    op.set_run([=](auto& exec, const auto& b) { activation_backward(exec, b[0], b[1], b[2], s.rows, s.cols, act); });
    op.derivative.gradients = {{0, std::size_t{2}}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> y(static_cast<std::size_t>(s.rows * s.cols));
        reference::activation_forward(exec, y.data(), variable[0], s.rows, s.cols, act);
        return weighted_sum(b[1], y);
    };
    op.set_work(activation_backward_work(s.rows, s.cols, act));
    return op;
}

inline void add_activation_cases(CaseTable& table) {
    for (const ActivationShape& s : activation_shapes(table.sizes()))
        for (const Activation act :
             {Activation::gelu_tanh, Activation::gelu_erf, Activation::tanh, Activation::swiglu}) {
            table.add([=](Draw draw) { return activation_forward_case(draw, s, act); });
            table.add([=](Draw draw) { return activation_backward_case(draw, s, act); });
        }
}

}  // namespace deft::kernels::cases
