#include "engine/core/expert_ops.h"

#include <stdexcept>

#include "engine/core/dispatch.h"
#include "engine/core/op_profile.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/op_products.h"
#include "kernels/reference/experts.h"
#include "kernels/work.h"

namespace deft::engine {

using kernels::Sum;

namespace {

void check_rows_of(const Tensor& tensor, std::int64_t rows, std::int64_t columns, const char* what) {
    if (tensor.rows() != rows || tensor.columns() != columns)
        throw std::logic_error(std::string(what) + " is " + tensor.shape_text() + ", not " + std::to_string(rows) +
                               " rows of " + std::to_string(columns));
}

// draws: whether the op reads the numbers of draws.
kernels::RoutedRows routed_rows(const RoutingRows& rows, bool draws) {
    const SampleStarts& packed = rows.packed;
    const std::int64_t B = packed ? packed.samples() : rows.B;
    if (rows.length) check_shape(rows.length, {B}, "length of routed rows");
    if (draws) check_shape(rows.draw, {B}, "draw of routed rows");
    return {.N = rows.rows(),
            .B = B,
            .K = rows.K,
            .length = rows.length.as<std::int32_t>(),
            .start = packed.start.as<std::int32_t>(),
            .seed = rows.seed,
            .step = rows.step,
            .layer = static_cast<std::uint32_t>(rows.layer),
            .draw = rows.draw.as<std::int64_t>()};
}
double bytes_of(const kernels::RoutedRows& rows, bool draws) {
    return kernels::routed_rows_bytes(rows.B, rows.length != nullptr, rows.start != nullptr, draws);
}

}  // namespace

void gate_logits(Exec& exec, Tensor logits, Tensor x, Tensor weight, Tensor bias) {
    const std::int64_t N = x.rows(), C = x.columns(), E = logits.columns();
    check_rows_of(logits, N, E, "gate logits");
    check_shape(weight, {E, C}, "gate weight");
    if (bias) check_shape(bias, {E}, "gate bias");
    const OpTimer timer(exec, "gate_logits", Phase::forward, logits, x.dtype,
                        kernels::gate_logits_work(N, C, E, bool(bias)));
    if (exec.planned != nullptr) kernels::cuda::list_gate_logits(*exec.planned, product_type_of(x.dtype), N, C, E);
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gate_logits(backend, logits.as<Sum<T_>>(), x.as<T_>(), weight.as<Sum<T_>>(), bias.as<Sum<T_>>(), N, C, E);
    });
}

void gate_backward_input(Exec& exec, Tensor dx, Tensor dlogits, Tensor weight, Accumulate accumulate) {
    const std::int64_t N = dx.rows(), C = dx.columns(), E = dlogits.columns();
    check_rows_of(dlogits, N, E, "gate dlogits");
    check_shape(weight, {E, C}, "gate weight");
    const OpTimer timer(exec, "gate_backward_input", Phase::backward, dx, dx.dtype,
                        kernels::gate_backward_input_work(N, C, E, accumulate));
    if (exec.planned != nullptr)
        kernels::cuda::list_gate_backward_input(*exec.planned, product_type_of(dx.dtype), N, C, E);
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gate_backward_input(backend, dx.as<T_>(), dlogits.as<Sum<T_>>(), weight.as<Sum<T_>>(), N, C, E, accumulate);
    });
}

void gate_backward_weight(Exec& exec, Tensor dweight, Tensor dbias, Tensor dlogits, Tensor x, Accumulate accumulate) {
    const std::int64_t N = x.rows(), C = x.columns(), E = dlogits.columns();
    check_rows_of(dlogits, N, E, "gate dlogits");
    check_shape(dweight, {E, C}, "gate dweight");
    if (dbias) check_shape(dbias, {E}, "gate dbias");
    const OpTimer timer(exec, "gate_backward_weight", Phase::backward, dweight, x.dtype,
                        kernels::gate_backward_weight_work(N, C, E, bool(dbias), accumulate));
    if (exec.planned != nullptr)
        kernels::cuda::list_gate_backward_weight(*exec.planned, product_type_of(x.dtype), N, C, E);
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gate_backward_weight(backend, dweight.as<Sum<T_>>(), dbias.as<Sum<T_>>(), dlogits.as<Sum<T_>>(), x.as<T_>(), N,
                             C, E, accumulate);
    });
}

void jitter_rows(Exec& exec, Tensor y, Tensor x, Tensor residual, const RoutingRows& rows, double epsilon) {
    const std::int64_t N = x.rows(), C = x.columns();
    check_rows_of(y, N, C, "jittered rows");
    if (residual) check_rows_of(residual, N, C, "residual of jittered rows");
    const kernels::RoutedRows routed = routed_rows(rows, true);
    check_rows_of(x, routed.N, C, "rows to jitter");
    const OpTimer timer(exec, "jitter_rows", Phase::forward, y, y.dtype,
                        kernels::jitter_rows_work(N, C, bool(residual), bytes_of(routed, true)));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        jitter_rows(backend, y.as<T_>(), x.as<T_>(), residual.as<T_>(), routed, C, epsilon);
    });
}

void route(Exec& exec, Tensor prob, Tensor lse, Tensor expert, Tensor logits, const RoutingRows& rows,
           bool is_sampled) {
    const kernels::RoutedRows routed = routed_rows(rows, is_sampled);
    const std::int64_t N = routed.N, E = logits.columns(), k = expert.columns();
    check_rows_of(logits, N, E, "gate logits");
    check_shape(prob, {N, E}, "gate prob");
    check_shape(lse, {N}, "gate lse");
    check_shape(expert, {N, k}, "chosen experts");
    if (k > E) throw std::logic_error("rows choose more experts than there are");
    const OpTimer timer(exec, "route", Phase::forward, prob, prob.dtype,
                        kernels::route_work(N, E, k, bytes_of(routed, is_sampled)));
    dispatch(exec, prob.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        route(backend, prob.as<Sum<T_>>(), lse.as<Sum<T_>>(), expert.as<std::int32_t>(), logits.as<Sum<T_>>(), routed,
              kernels::RouteSpec{E, k, is_sampled});
    });
}

void place_choices(Exec& exec, Tensor start, Tensor row, Tensor slot, Tensor expert, const RoutingRows& rows,
                   const CapacitySpec& capacity) {
    const bool draws = capacity.factor > 0 && capacity.selects_at_random;
    const kernels::RoutedRows routed = routed_rows(rows, draws);
    const std::int64_t N = routed.N, E = start.dim(0) - 1, k = expert.columns();
    check_shape(expert, {N, k}, "chosen experts");
    check_shape(row, {N * k}, "row of a slot");
    check_shape(slot, {N, k}, "slot of a choice");
    const OpTimer timer(exec, "place_choices", Phase::forward, start, DType::f32,
                        kernels::place_choices_work(N, E, k, bytes_of(routed, draws)));
    dispatch(exec, DType::f32, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        place_choices(backend, start.as<std::int32_t>(), row.as<std::int32_t>(), slot.as<std::int32_t>(),
                      expert.as<std::int32_t>(), routed, E, k, capacity);
    });
}

void gate_weights(Exec& exec, Tensor weight, Tensor prob, Tensor expert, Tensor slot) {
    const std::int64_t N = prob.dim(0), E = prob.dim(1), k = expert.columns();
    check_shape(weight, {N, k}, "gate weights");
    check_shape(expert, {N, k}, "chosen experts");
    check_shape(slot, {N, k}, "slot of a choice");
    const OpTimer timer(exec, "gate_weights", Phase::forward, weight, weight.dtype,
                        kernels::gate_weights_work(N, E, k));
    dispatch(exec, weight.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gate_weights(backend, weight.as<Sum<T_>>(), prob.as<Sum<T_>>(), expert.as<std::int32_t>(),
                     slot.as<std::int32_t>(), N, E, k);
    });
}

void gate_losses(Exec& exec, Tensor losses, Tensor chosen, Tensor prob, Tensor lse, Tensor logits, Tensor expert) {
    const std::int64_t N = prob.dim(0), E = prob.dim(1), k = expert.columns();
    check_shape(losses, {kernels::kGateLosses}, "gate losses");
    check_shape(chosen, {E + 1}, "counts of choices");
    check_shape(lse, {N}, "gate lse");
    check_shape(logits, {N, E}, "gate logits");
    check_shape(expert, {N, k}, "chosen experts");
    const OpTimer timer(exec, "gate_losses", Phase::forward, losses, losses.dtype, kernels::gate_losses_work(N, E, k));
    dispatch(exec, losses.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gate_losses(backend, losses.as<Sum<T_>>(), chosen.as<std::int32_t>(), prob.as<Sum<T_>>(), lse.as<Sum<T_>>(),
                    logits.as<Sum<T_>>(), expert.as<std::int32_t>(), N, E, k);
    });
}

void sum_routing(Exec& exec, Tensor totals, Tensor losses, Tensor chosen, Tensor start, double weight,
                 Accumulate accumulate) {
    const std::int64_t E = chosen.numel() - 1;
    check_shape(totals, {kernels::RoutingTotals{E}.size()}, "totals of routing");
    check_shape(losses, {kernels::kGateLosses}, "gate losses");
    check_shape(start, {E + 1}, "start of each expert");
    const OpTimer timer(exec, "sum_routing", Phase::forward, losses, losses.dtype,
                        kernels::sum_routing_work(E, accumulate));
    dispatch(exec, losses.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        sum_routing(backend, totals.as<double>(), losses.as<Sum<T_>>(), chosen.as<std::int32_t>(),
                    start.as<std::int32_t>(), E, weight, accumulate);
    });
}

void gate_backward(Exec& exec, Tensor dlogits, Tensor dweight, Tensor logits, Tensor expert, Tensor slot, Tensor chosen,
                   double balance_scale, double z_scale) {
    const std::int64_t N = logits.dim(0), E = logits.dim(1), k = expert.columns();
    check_shape(dlogits, {N, E}, "gate dlogits");
    check_shape(dweight, {N, k}, "gradient of gate weights");
    check_shape(expert, {N, k}, "chosen experts");
    check_shape(slot, {N, k}, "slot of a choice");
    check_shape(chosen, {E + 1}, "counts of choices");
    const OpTimer timer(exec, "gate_backward", Phase::backward, dlogits, dlogits.dtype,
                        kernels::gate_backward_work(N, E, k));
    dispatch(exec, dlogits.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gate_backward(backend, dlogits.as<Sum<T_>>(), dweight.as<Sum<T_>>(), logits.as<Sum<T_>>(),
                      expert.as<std::int32_t>(), slot.as<std::int32_t>(), chosen.as<std::int32_t>(), N, E, k,
                      balance_scale, z_scale);
    });
}

void combine_rows(Exec& exec, Tensor out, Tensor y, Tensor weight, Tensor slot) {
    const std::int64_t N = slot.dim(0), k = slot.dim(1), C = y.columns();
    check_rows_of(out, N, C, "combined rows");
    if (weight) check_shape(weight, {N, k}, "gate weights");
    const OpTimer timer(exec, "combine_rows", Phase::forward, out, out.dtype,
                        kernels::combine_rows_work(N, k, C, N * k, bool(weight)));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        combine_rows(backend, out.as<T_>(), y.as<T_>(), weight.as<Sum<T_>>(), slot.as<std::int32_t>(), N, k, C);
    });
}

void combine_backward(Exec& exec, Tensor dy, Tensor dweight, Tensor dout, Tensor y, Tensor weight, Tensor slot) {
    const std::int64_t N = slot.dim(0), k = slot.dim(1), C = y.columns();
    check_rows_of(dout, N, C, "gradient of combined rows");
    check_rows_of(dy, y.rows(), C, "gradient of slots");
    check_shape(dweight, {N, k}, "gradient of gate weights");
    check_shape(weight, {N, k}, "gate weights");
    const OpTimer timer(exec, "combine_backward", Phase::backward, dy, dy.dtype,
                        kernels::combine_backward_work(N, k, C, N * k));
    dispatch(exec, dy.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        combine_backward(backend, dy.as<T_>(), dweight.as<Sum<T_>>(), dout.as<T_>(), y.as<T_>(), weight.as<Sum<T_>>(),
                         slot.as<std::int32_t>(), N, k, C);
    });
}

void mix_rows(Exec& exec, Tensor out, Tensor a, Tensor b, Tensor logits) {
    const std::int64_t N = out.rows(), C = out.columns();
    check_rows_of(a, N, C, "mixed a");
    check_rows_of(b, N, C, "mixed b");
    check_rows_of(logits, N, 2, "logits of a mixture");
    const OpTimer timer(exec, "mix_rows", Phase::forward, out, out.dtype, kernels::mix_rows_work(N, C));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        mix_rows(backend, out.as<T_>(), a.as<T_>(), b.as<T_>(), logits.as<Sum<T_>>(), N, C);
    });
}

void mix_backward(Exec& exec, Tensor da, Tensor db, Tensor dlogits, Tensor dout, Tensor a, Tensor b, Tensor logits) {
    const std::int64_t N = dout.rows(), C = dout.columns();
    for (const Tensor& rows : {da, db, a, b}) check_rows_of(rows, N, C, "rows of a mixture");
    for (const Tensor& of_row : {dlogits, logits}) check_rows_of(of_row, N, 2, "logits of a mixture");
    const OpTimer timer(exec, "mix_backward", Phase::backward, da, dout.dtype, kernels::mix_backward_work(N, C));
    dispatch(exec, dout.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        mix_backward(backend, da.as<T_>(), db.as<T_>(), dlogits.as<Sum<T_>>(), dout.as<T_>(), a.as<T_>(), b.as<T_>(),
                     logits.as<Sum<T_>>(), N, C);
    });
}

namespace {

struct GroupedShapes {
    std::int64_t slots, E, in, out;

    GroupedShapes(const Tensor& x, const Tensor& y, const Tensor& weight, const Tensor& bias, const Tensor& start,
                  Activation activation)
        : slots(x.rows()), E(weight.dim(0)), in(x.columns()), out(y.columns()) {
        check_rows_of(y, slots, out, "grouped linear output");
        check_shape(weight, {E, out, in}, "grouped linear weight");
        if (bias) check_shape(bias, {E, out}, "grouped linear bias");
        check_shape(start, {E + 1}, "start of each expert");
        if (activation == Activation::swiglu)
            throw std::logic_error("an activation with a gate is an op of its own, not part of a linear layer");
    }
};

}  // namespace

void grouped_linear_forward(Exec& exec, Tensor y, Tensor pre, Tensor x, Tensor weight, Tensor bias, Tensor start,
                            Activation activation) {
    const GroupedShapes s(x, y, weight, bias, start, activation);
    if (pre) check_rows_of(pre, s.slots, s.out, "grouped linear pre");
    const OpTimer timer(exec, "grouped_linear_forward", Phase::forward, y, y.dtype,
                        kernels::grouped_linear_forward_work(s.slots, s.E, s.in, s.out, bool(bias), bool(pre)));
    if (exec.planned != nullptr)
        kernels::cuda::list_grouped_forward(*exec.planned, product_type_of(y.dtype), s.slots, s.in, s.out);
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        grouped_linear_forward(backend, y.as<T_>(), pre.as<T_>(), x.as<T_>(), weight.as<T_>(), bias.as<T_>(),
                               start.as<std::int32_t>(), s.slots, s.E, s.in, s.out, activation);
    });
}

void grouped_linear_backward_input(Exec& exec, Tensor dx, Tensor dy, Tensor weight, Tensor pre, Tensor start,
                                   Activation activation) {
    const GroupedShapes s(dx, dy, weight, {}, start, activation);
    if (pre) check_rows_of(pre, s.slots, s.in, "grouped linear pre");
    const OpTimer timer(exec, "grouped_linear_backward_input", Phase::backward, dx, dx.dtype,
                        kernels::grouped_linear_backward_input_work(s.slots, s.E, s.in, s.out, bool(pre)));
    if (exec.planned != nullptr)
        kernels::cuda::list_grouped_backward_input(*exec.planned, product_type_of(dx.dtype), s.slots, s.in, s.out);
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        grouped_linear_backward_input(backend, dx.as<T_>(), dy.as<T_>(), weight.as<T_>(), pre.as<T_>(),
                                      start.as<std::int32_t>(), s.slots, s.E, s.in, s.out, activation);
    });
}

void grouped_linear_backward_weight(Exec& exec, Tensor dweight, Tensor dbias, Tensor dy, Tensor x, Tensor start,
                                    Accumulate accumulate) {
    const GroupedShapes s(x, dy, dweight, dbias, start, Activation::none);
    const OpTimer timer(
        exec, "grouped_linear_backward_weight", Phase::backward, dweight, dy.dtype,
        kernels::grouped_linear_backward_weight_work(s.slots, s.E, s.in, s.out, bool(dbias), accumulate));
    if (exec.planned != nullptr)
        kernels::cuda::list_grouped_backward_weight(*exec.planned, product_type_of(dy.dtype), s.slots, s.in, s.out);
    dispatch(exec, dy.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        grouped_linear_backward_weight(backend, dweight.as<Sum<T_>>(), dbias.as<Sum<T_>>(), dy.as<T_>(), x.as<T_>(),
                                       start.as<std::int32_t>(), s.slots, s.E, s.in, s.out, accumulate);
    });
}

}  // namespace deft::engine
