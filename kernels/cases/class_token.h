#pragma once
// Cases of the token of the class.

#include "kernels/cases/case_table.h"
#include "kernels/reference/class_token.h"

namespace deft::kernels::cases {

struct ClassTokenShape {
    std::int64_t B, K, C;
};

inline std::vector<ClassTokenShape> class_token_shapes(Sizes sizes) {
    if (sizes == Sizes::model) return {{32, 64, 192}, {4, 196, 768}};
    return {{1, 1, 1}, {3, 17, 33}, {2, 5, 259}, {4, 64, 64}};
}

inline std::string class_token_name(const char* op, ClassTokenShape s, bool has_positions) {
    return shape_text(op, s.B, s.K, s.C) + (has_positions ? " positions" : "");
}

inline OpCase class_token_forward_case(Draw draw, ClassTokenShape s, bool has_positions) {
    OpCase op;
    op.name = class_token_name("class_token_forward", s, has_positions);
    op.buffers = {output("out", s.B * (s.K + 1) * s.C), draw.input("token", s.C), draw.input("x", s.B * s.K * s.C)};
    if (has_positions) op.buffers.push_back(draw.input("position", (s.K + 1) * s.C));
    op.set_run([=]<class Real>(auto& exec, const Arguments<Real>& b) {
        const Real* position = has_positions ? b[3] : nullptr;
        class_token_forward(exec, b[0], b[1], b[2], position, s.B, s.K, s.C);
    });
    op.set_work(class_token_forward_work(s.B, s.K, s.C, has_positions));
    return op;
}

inline OpCase class_token_backward_case(Draw draw, ClassTokenShape s, bool has_positions, Accumulate accumulate) {
    const std::int64_t T = s.K + 1;
    OpCase op;
    op.name = class_token_name("class_token_backward", s, has_positions) +
              (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {gradient(draw, "dtoken", s.C, accumulate), output("dx", s.B * s.K * s.C),
                  draw.input("dout", s.B * T * s.C)};
    if (has_positions) op.buffers.push_back(gradient(draw, "dposition", T * s.C, accumulate));
    op.set_run([=]<class Real>(auto& exec, const Arguments<Real>& b) {
        auto* dposition = has_positions ? b.sum(3) : nullptr;
        class_token_backward(exec, b.sum(0), b[1], dposition, b[2], s.B, s.K, s.C, accumulate);
    });
    op.derivative.gradients = {{0, std::nullopt}, {1, std::nullopt}};
    if (has_positions) op.derivative.gradients.push_back({3, std::nullopt});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> out(static_cast<std::size_t>(s.B * T * s.C));
        reference::class_token_forward<double>(exec, out.data(), variable[0], variable[1],
                                               has_positions ? variable[2] : nullptr, s.B, s.K, s.C);
        return weighted_sum(b[2], out);
    };
    op.set_work(class_token_backward_work(s.B, s.K, s.C, has_positions, accumulate));
    return op;
}

inline void add_class_token_cases(CaseTable& table) {
    for (const ClassTokenShape& s : class_token_shapes(table.sizes()))
        for (const bool has_positions : {false, true}) {
            table.add([=](Draw draw) { return class_token_forward_case(draw, s, has_positions); });
            for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes})
                table.add([=](Draw draw) { return class_token_backward_case(draw, s, has_positions, accumulate); });
        }
}

}  // namespace deft::kernels::cases
