#pragma once
// Cases of the optimiser step and its sums.

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

enum class MomentItem { whole, rounded };  // the type of weights, or bf16

inline Item item_of(MomentItem moments) {
    return moments == MomentItem::rounded ? Item::rounded : Item::sum;
}
inline std::int64_t bytes_of(MomentItem moments) {
    return moments == MomentItem::rounded ? sizeof(bf16) : sizeof(float);
}

// keeps_rounded: the new weights are written rounded too.
inline OpCase adamw_update_case(Draw draw, std::int64_t n, const AdamW& adamw, bool keeps_rounded,
                                MomentItem moments = MomentItem::whole) {
    OpCase op;
    op.name = shape_text("adamw_update", n) + (adamw.max_grad_norm > 0 ? " clip" : "") +
              (keeps_rounded ? " rounded" : "") + (moments == MomentItem::rounded ? " moments=bf16" : "");
    op.buffers = {stored_as(Item::sum, draw.update("param", n)),
                  stored_as(Item::rounded, output("rounded", keeps_rounded ? n : 0)),
                  stored_as(item_of(moments), draw.update("m", n)),
                  stored_as(item_of(moments), draw.update("v", n)),
                  stored_as(Item::sum, draw.input("grad", n)),
                  stored_as(Item::wide, {"norm", Role::input, {2.5f}}),
                  stored_as(Item::wide, {"loss", Role::input, {3.5f}})};
    for (float& v : op.buffers[3].value) v *= v;  // a second moment is never negative
    op.set_run([=](auto& exec, const auto& b) {
        const auto update = [&](auto* m, auto* v) {
            adamw_update(exec, b.sum(0), keeps_rounded ? b.rounded(1) : nullptr, m, v, b.sum(4), b.wide(5), b.wide(6),
                         n, adamw);
        };
        if (moments == MomentItem::rounded)
            update(b.rounded(2), b.rounded(3));
        else
            update(b.sum(2), b.sum(3));
    });
    op.set_work(adamw_update_work(n, keeps_rounded, bytes_of(moments)));
    return op;
}

inline OpCase sgd_update_case(Draw draw, std::int64_t n, const Sgd& sgd, bool keeps_rounded,
                              MomentItem moments = MomentItem::whole) {
    OpCase op;
    op.name = shape_text("sgd_update", n) + (sgd.max_grad_norm > 0 ? " clip" : "") + (keeps_rounded ? " rounded" : "") +
              (moments == MomentItem::rounded ? " moments=bf16" : "");
    op.buffers = {stored_as(Item::sum, draw.update("param", n)),
                  stored_as(Item::rounded, output("rounded", keeps_rounded ? n : 0)),
                  stored_as(item_of(moments), draw.update("m", n)),
                  stored_as(Item::sum, draw.input("grad", n)),
                  stored_as(Item::wide, {"norm", Role::input, {2.5f}}),
                  stored_as(Item::wide, {"loss", Role::input, {3.5f}})};
    op.set_run([=](auto& exec, const auto& b) {
        const auto update = [&](auto* m) {
            sgd_update(exec, b.sum(0), keeps_rounded ? b.rounded(1) : nullptr, m, b.sum(3), b.wide(4), b.wide(5), n,
                       sgd);
        };
        if (moments == MomentItem::rounded)
            update(b.rounded(2));
        else
            update(b.sum(2));
    });
    op.set_work(sgd_update_work(n, keeps_rounded, bytes_of(moments)));
    return op;
}

inline OpCase sum_of_squares_case(Draw draw, std::int64_t n, Accumulate accumulate) {
    OpCase op;
    op.name = shape_text("sum_of_squares", n) + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {stored_as(Item::wide, gradient(draw, "total", 1, accumulate)),
                  stored_as(Item::sum, draw.input("x", n))};
    op.set_run([=](auto& exec, const auto& b) { sum_of_squares(exec, b.wide(0), b.sum(1), n, accumulate); });
    op.workspace = [=](int) { return cpu::sum_of_squares_workspace(n); };
    op.set_cuda_workspace([=](auto) { return cuda::sum_of_squares_workspace(n); });
    op.tolerance = 1e-24;  // summed in double
    op.set_work(sum_of_squares_work(n, accumulate));
    return op;
}

inline OpCase square_root_case() {
    OpCase op;
    op.name = "square_root";
    op.buffers = {stored_as(Item::wide, {"x", Role::update, {6.5f}})};
    op.set_run([=](auto& exec, const auto& b) { square_root(exec, b.wide(0)); });
    op.tolerance = 1e-24;
    op.set_work(square_root_work());
    return op;
}

inline OpCase sum_case(Draw draw, std::int64_t n, Accumulate accumulate) {
    OpCase op;
    op.name = shape_text("sum", n) + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {stored_as(Item::wide, gradient(draw, "total", 1, accumulate)),
                  stored_as(Item::sum, draw.input("x", n, 1, 3))};
    op.set_run([=](auto& exec, const auto& b) { sum(exec, b.wide(0), b.sum(1), n, accumulate); });
    op.tolerance = 1e-24;
    op.set_work(sum_work(n, accumulate));
    return op;
}

inline OpCase round_to_case(Draw draw, std::int64_t n) {
    OpCase op;
    op.name = shape_text("round_to", n);
    op.buffers = {output("to", n), stored_as(Item::sum, draw.input("from", n))};
    op.set_run_without_cpu([=](auto& exec, const auto& b) { round_to(exec, b[0], b.sum(1), n); });
    op.tolerance = 0;
    op.set_work(round_to_work(n));
    return op;
}

inline std::vector<std::int64_t> parameter_counts(Sizes sizes) {
    if (sizes == Sizes::model) return {1 << 16, 1 << 20, 1 << 22};
    return {1, 3, 17, 129, 100003};
}

inline void add_optimizer_cases(CaseTable& table) {
    for (const std::int64_t n : parameter_counts(table.sizes())) {
        for (const std::int64_t step : {1, 1000}) {
            const AdamW adamw{.rates = adamw_rates(1e-2, 0.9, 0.95, step),
                              .beta1 = 0.9,
                              .beta2 = 0.95,
                              .eps = 1e-8,
                              .weight_decay = 0.1,
                              .max_grad_norm = step == 1 ? 1.0 : 0.0};
            for (const MomentItem moments : {MomentItem::whole, MomentItem::rounded})
                table.add([=](Draw draw) { return adamw_update_case(draw, n, adamw, step == 1, moments); });
        }
        for (const bool clips : {true, false}) {
            const Sgd sgd{
                .rates = SgdRates{1e-2, 7}, .momentum = 0.9, .weight_decay = 0.1, .max_grad_norm = clips ? 1.0 : 0.0};
            for (const MomentItem moments : {MomentItem::whole, MomentItem::rounded})
                table.add([=](Draw draw) { return sgd_update_case(draw, n, sgd, clips, moments); });
        }
        table.add([=](Draw draw) { return sum_of_squares_case(draw, n, Accumulate::no); });
        table.add([=](Draw draw) { return sum_of_squares_case(draw, n, Accumulate::yes); });
        table.add([=](Draw draw) { return sum_case(draw, n, Accumulate::no); });
        table.add([=](Draw draw) { return sum_case(draw, n, Accumulate::yes); });
        table.add([=](Draw draw) { return round_to_case(draw, n); });
    }
    table.add([](Draw) { return square_root_case(); });
}

}  // namespace deft::kernels::cases
