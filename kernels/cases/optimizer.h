#pragma once
// Cases of the optimiser step. The sums, whose results are doubles, are tested by value instead.

#include "kernels/cases/op_case.h"

namespace deft::kernels::cases {

inline OpCase adamw_update_case(Draw draw, std::int64_t n, const AdamW& adamw) {
    OpCase op;
    op.name = shape_text("adamw_update", n, adamw.step);
    op.buffers = {draw.update("param", n), draw.update("m", n), draw.update("v", n), draw.input("grad", n)};
    for (float& v : op.buffers[2].value) v *= v;  // a second moment is never negative
    const double norm = 2.5, loss = 3.5;
    op.set_run([=](auto& exec, auto* const* b) {
        adamw_update(exec, b[0], nullptr, b[1], b[2], b[3], &norm, &loss, n, adamw);
    });
    op.flops = 15.0 * static_cast<double>(n);
    op.set_least_bytes();
    return op;
}

inline void add_optimizer_cases(std::vector<OpCase>& all, std::uint64_t seed) {
    for (const std::int64_t n : {1, 3, 17, 129, 100003})
        for (const std::int64_t step : {1, 1000})
            all.push_back(adamw_update_case(Draw(seed, all.size()), n,
                                            {.lr = 1e-2,
                                             .beta1 = 0.9,
                                             .beta2 = 0.95,
                                             .eps = 1e-8,
                                             .weight_decay = 0.1,
                                             .step = step,
                                             .max_grad_norm = step == 1 ? 1.0 : 0.0}));
}

}  // namespace deft::kernels::cases
