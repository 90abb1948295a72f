#pragma once
// Cases of linear layers of each expert's rows.

#include "kernels/cases/case_table.h"
#include "kernels/reference/experts.h"

namespace deft::kernels::cases {

struct GroupedShape {
    std::vector<std::int32_t> rows;  // of each expert
    std::int64_t in, out;
    std::int64_t spare = 0;  // slots that are not used

    std::int64_t experts() const { return static_cast<std::int64_t>(rows.size()); }
    std::int64_t used() const { return std::accumulate(rows.begin(), rows.end(), std::int64_t{0}); }
    std::int64_t slots() const { return used() + spare; }
    Buffer start() const {
        std::vector<std::int32_t> start(rows.size() + 1);
        std::partial_sum(rows.begin(), rows.end(), start.begin() + 1);
        return integer_input("start", start);
    }
    std::string text(const char* op) const {
        return shape_text(op, used(), experts(), in, out) + (spare > 0 ? " spare" : "");
    }
};

inline std::vector<GroupedShape> grouped_shapes(Sizes sizes) {
    if (sizes == Sizes::odd)
        return {{{1}, 1, 1},
                {{5, 0, 9}, 17, 33, 3},
                {{0, 0}, 7, 5, 4},
                {{64, 3, 70, 1}, 33, 65},
                {{130, 200}, 65, 70},
                {{0, 8, 9, 0, 1, 31}, 40, 512},
                {{330, 2}, 9, 530},
                {{330, 2}, 530, 9},
                {{0, 8, 9, 0, 1, 31}, 40, 136},
                {{130, 3, 200}, 136, 24, 5},
                {{3, 0, 40}, 8, 16}};
    std::vector<GroupedShape> shapes;
    for (const ModelSizes& m : model_sizes()) {  // uneven as a gate leaves it
        std::vector<std::int32_t> rows(8);
        for (std::size_t e = 0; e < rows.size(); ++e)
            rows[e] = static_cast<std::int32_t>(m.rows() / 8 + (e % 2 == 0 ? 1 : -1) * m.rows() / 32);
        shapes.push_back({rows, m.C, 4 * m.C});
        shapes.push_back({rows, 4 * m.C, m.C});
    }
    return shapes;
}

inline OpCase grouped_linear_forward_case(Draw draw, const GroupedShape& s, bool has_bias, bool keeps_pre,
                                          Activation act) {
    OpCase op;
    const std::int64_t E = s.experts(), slots = s.slots();
    op.name =
        s.text("grouped_linear_forward") + (has_bias ? " bias" : "") + (keeps_pre ? " pre" : "") + activation_text(act);
    op.buffers = {slots_output(draw, "y", s.used(), slots, s.out),
                  slots_output(draw, "pre", s.used(), slots, keeps_pre ? s.out : 0),
                  draw.input("x", slots * s.in),
                  draw.input("w", E * s.out * s.in, 1 / std::sqrt(s.in)),
                  draw.input("bias", has_bias ? E * s.out : 0),
                  s.start()};
    op.roundings = 4;  // as of linear_forward
    op.set_run([=](auto& exec, const auto& b) {
        grouped_linear_forward(exec, b[0], keeps_pre ? b[1] : nullptr, b[2], b[3], has_bias ? b[4] : nullptr,
                               b.index(5), slots, E, s.in, s.out, act);
    });
    op.set_work(grouped_linear_forward_work(slots, E, s.in, s.out, has_bias, keeps_pre));
    return op;
}

inline OpCase grouped_linear_backward_input_case(Draw draw, const GroupedShape& s, Activation act) {
    OpCase op;
    const bool activated = act != Activation::none;
    const std::int64_t E = s.experts(), slots = s.slots();
    op.name = s.text("grouped_linear_backward_input") + activation_text(act);
    op.buffers = {slots_output(draw, "dx", s.used(), slots, s.in), draw.input("dy", slots * s.out),
                  draw.input("w", E * s.out * s.in, 1 / std::sqrt(s.out)),
                  draw.input("pre", activated ? slots * s.in : 0), s.start()};
    op.roundings = 2;
    op.set_run([=](auto& exec, const auto& b) {
        grouped_linear_backward_input(exec, b[0], b[1], b[2], activated ? b[3] : nullptr, b.index(4), slots, E, s.in,
                                      s.out, act);
    });
    op.derivative.gradients = {{0, activated ? std::optional<std::size_t>(3) : std::nullopt}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> x(variable[0], variable[0] + slots * s.in), y(static_cast<std::size_t>(slots * s.out));
        for (double& value : x) value = reference::activate(act, value);
        reference::grouped_linear_forward<double>(exec, y.data(), nullptr, x.data(), b[2], nullptr, b.index(4), slots,
                                                  E, s.in, s.out, Activation::none);
        return weighted_sum(b[1], y);
    };
    op.set_work(grouped_linear_backward_input_work(slots, E, s.in, s.out, activated));
    return op;
}

inline OpCase grouped_linear_backward_weight_case(Draw draw, const GroupedShape& s, bool has_bias,
                                                  Accumulate accumulate) {
    OpCase op;
    const std::int64_t E = s.experts(), slots = s.slots();
    op.name = s.text("grouped_linear_backward_weight") + (has_bias ? " bias" : "") +
              (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {gradient(draw, "dw", E * s.out * s.in, accumulate),
                  gradient(draw, "dbias", has_bias ? E * s.out : 0, accumulate), draw.input("dy", slots * s.out),
                  draw.input("x", slots * s.in), s.start()};
    op.set_run([=](auto& exec, const auto& b) {
        grouped_linear_backward_weight(exec, b.sum(0), has_bias ? b.sum(1) : nullptr, b[2], b[3], b.index(4), slots, E,
                                       s.in, s.out, accumulate);
    });
    op.derivative.gradients = {{0, std::nullopt}};
    if (has_bias) op.derivative.gradients.push_back({1, std::nullopt});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> y(static_cast<std::size_t>(slots * s.out));
        reference::grouped_linear_forward<double>(exec, y.data(), nullptr, b[3], variable[0],
                                                  has_bias ? variable[1] : nullptr, b.index(4), slots, E, s.in, s.out,
                                                  Activation::none);
        return weighted_sum(b[2], y);
    };
    op.workspace = [=](int threads) { return cpu::grouped_linear_workspace(threads, slots, E, s.in, s.out); };
    op.set_work(grouped_linear_backward_weight_work(slots, E, s.in, s.out, has_bias, accumulate));
    return op;
}

inline void add_grouped_linear_cases(CaseTable& table) {
    const bool is_odd = table.sizes() == Sizes::odd;
    for (const GroupedShape& s : grouped_shapes(table.sizes())) {
        const Activation act = Activation::gelu_tanh;
        table.add([=](Draw draw) { return grouped_linear_forward_case(draw, s, true, true, act); });
        table.add([=](Draw draw) { return grouped_linear_backward_input_case(draw, s, act); });
        table.add([=](Draw draw) { return grouped_linear_backward_weight_case(draw, s, true, Accumulate::no); });
        if (!is_odd) continue;
        table.add([=](Draw draw) { return grouped_linear_forward_case(draw, s, false, false, Activation::none); });
        table.add([=](Draw draw) { return grouped_linear_forward_case(draw, s, true, false, Activation::gelu_erf); });
        table.add([=](Draw draw) { return grouped_linear_backward_input_case(draw, s, Activation::none); });
        table.add([=](Draw draw) { return grouped_linear_backward_weight_case(draw, s, true, Accumulate::yes); });
        table.add([=](Draw draw) { return grouped_linear_backward_weight_case(draw, s, false, Accumulate::no); });
    }
}

}  // namespace deft::kernels::cases
