#pragma once
// Cases of the gate of a layer of experts.

#include "kernels/cases/expert_rows.h"

namespace deft::kernels::cases {

inline OpCase route_case(Draw draw, ExpertShape s) {
    OpCase op;
    op.name = text_of("route", s);
    const RowBuffers rows(draw, s, s.is_sampled);
    Routing routing(draw, s, rows);
    for (std::size_t i = 0; i + 1 < routing.logits.size(); i += 5) routing.logits[i + 1] = routing.logits[i];  // ties
    op.buffers = {sum_output("prob", rows.N * s.E), sum_output("lse", rows.N),
                  stored_as(Item::index, output("expert", rows.N * s.k)), routing.logits_buffer()};
    rows.add_to(op);
    op.set_run([=](auto& exec, const auto& b) {
        route(exec, b.sum(0), b.sum(1), b.index(2), b.sum(3), rows.rows(b, 4), RouteSpec{s.E, s.k, s.is_sampled});
    });
    op.set_work(route_work(rows.N, s.E, s.k, rows.bytes()));
    return op;
}

inline OpCase gate_weights_case(Draw draw, ExpertShape s) {
    OpCase op;
    op.name = text_of("gate_weights", s);
    const RowBuffers rows(draw, s, false);
    const Routing routing(draw, s, rows);
    op.buffers = {sum_output("weight", rows.N * s.k), stored_as(Item::sum, {"prob", Role::input, floats(routing.prob)}),
                  integer_input("expert", routing.expert), integer_input("slot", routing.slot)};
    op.set_run([=](auto& exec, const auto& b) {
        gate_weights(exec, b.sum(0), b.sum(1), b.index(2), b.index(3), rows.N, s.E, s.k);
    });
    op.set_work(gate_weights_work(rows.N, s.E, s.k));
    return op;
}

inline OpCase gate_losses_case(Draw draw, ExpertShape s) {
    OpCase op;
    op.name = text_of("gate_losses", s);
    const RowBuffers rows(draw, s, false);
    const Routing routing(draw, s, rows);
    op.buffers = {sum_output("losses", kGateLosses),
                  stored_as(Item::index, output("chosen", s.E + 1)),
                  stored_as(Item::sum, {"prob", Role::input, floats(routing.prob)}),
                  stored_as(Item::sum, {"lse", Role::input, floats(routing.lse)}),
                  routing.logits_buffer(),
                  integer_input("expert", routing.expert)};
    op.set_run([=](auto& exec, const auto& b) {
        gate_losses(exec, b.sum(0), b.index(1), b.sum(2), b.sum(3), b.sum(4), b.index(5), rows.N, s.E, s.k);
    });
    op.workspace = [=](int) { return cpu::gate_losses_workspace(rows.N, s.E); };
    op.set_cuda_workspace([=](auto) { return cuda::gate_losses_workspace(rows.N, s.E); });
    op.set_work(gate_losses_work(rows.N, s.E, s.k));
    return op;
}

inline OpCase sum_routing_case(Draw draw, ExpertShape s, Accumulate accumulate) {
    constexpr double kWeight = 0.3;
    OpCase op;
    op.name = text_of(accumulate == Accumulate::yes ? "sum_routing accumulating" : "sum_routing", s);
    std::vector<std::int32_t> chosen, start = {0};
    for (std::int64_t e = 0; e <= s.E; ++e) chosen.push_back(static_cast<std::int32_t>(e * 7 % 5 + e));
    for (std::int64_t e = 0; e < s.E; ++e) start.push_back(start.back() + static_cast<std::int32_t>(e * 3 % 4));
    op.buffers = {stored_as(Item::wide, gradient(draw, "totals", RoutingTotals{s.E}.size(), accumulate)),
                  stored_as(Item::sum, draw.input("losses", kGateLosses)), integer_input("chosen", chosen),
                  integer_input("start", start)};
    op.set_run([=](auto& exec, const auto& b) {
        sum_routing(exec, b.wide(0), b.sum(1), b.index(2), b.index(3), s.E, kWeight, accumulate);
    });
    op.tolerance = 1e-24;
    op.set_work(sum_routing_work(s.E, accumulate));
    return op;
}

inline OpCase gate_backward_case(Draw draw, ExpertShape s) {
    constexpr double kBalanceScale = 3, kZScale = 0.7;
    OpCase op;
    op.name = text_of("gate_backward", s);
    const RowBuffers rows(draw, s, false);
    const Routing routing(draw, s, rows);
    const std::int64_t N = rows.N, E = s.E, k = s.k;
    const std::vector<double> logits(routing.logits.begin(), routing.logits.end());
    std::vector<std::int32_t> chosen(static_cast<std::size_t>(E + 1));
    std::vector<double> losses(kGateLosses);
    reference::Exec host;
    reference::gate_losses(host, losses.data(), chosen.data(), routing.prob.data(), routing.lse.data(), logits.data(),
                           routing.expert.data(), N, E, k);
    op.buffers = {sum_output("dlogits", N * E),
                  stored_as(Item::sum, draw.input("dweight", N * k)),
                  routing.logits_buffer(),
                  integer_input("expert", routing.expert),
                  integer_input("slot", routing.slot),
                  integer_input("chosen", chosen)};
    op.set_run([=](auto& exec, const auto& b) {
        gate_backward(exec, b.sum(0), b.sum(1), b.sum(2), b.index(3), b.index(4), b.index(5), N, E, k, kBalanceScale,
                      kZScale);
    });
    op.derivative.gradients = {{0, 2}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> prob(logits.size()), lse(static_cast<std::size_t>(N)),
            weight(static_cast<std::size_t>(N * k));
        std::vector<double> values(kGateLosses);
        std::vector<std::int32_t> chosen_experts(routing.expert.size()), counts(chosen.size());
        const RoutedRows all{N, 1, N};
        reference::route(exec, prob.data(), lse.data(), chosen_experts.data(), variable[0], all, {E, k});
        for (std::int64_t n = 0; n < N; ++n)
            if (b.index(3)[n * k] < 0) std::fill_n(&prob[static_cast<std::size_t>(n * E)], E, 0.0);
        reference::gate_weights(exec, weight.data(), prob.data(), b.index(3), b.index(4), N, E, k);
        reference::gate_losses(exec, values.data(), counts.data(), prob.data(), lse.data(), variable[0], b.index(3), N,
                               E, k);
        return weighted_sum(b.sum(1), weight) + kBalanceScale * values[kBalanceLoss] + kZScale * values[kZLoss];
    };
    op.set_work(gate_backward_work(N, E, k));
    return op;
}

struct GateShape {
    std::int64_t N, C, E;
};

inline std::vector<GateShape> gate_shapes(Sizes sizes) {
    if (sizes == Sizes::odd) return {{1, 1, 1}, {33, 17, 5}, {65, 130, 3}, {129, 64, 70}, {3, 9, 512}};
    std::vector<GateShape> shapes;
    for (const ModelSizes& m : model_sizes()) shapes.push_back({m.rows(), m.C, 8});
    return shapes;
}

inline OpCase gate_logits_case(Draw draw, GateShape s, bool has_bias) {
    OpCase op;
    op.name = shape_text("gate_logits", s.N, s.C, s.E) + (has_bias ? " bias" : "");
    op.buffers = {sum_output("logits", s.N * s.E), draw.input("x", s.N * s.C),
                  stored_as(Item::sum, draw.input("w", s.E * s.C, 1 / std::sqrt(s.C))),
                  stored_as(Item::sum, draw.input("bias", has_bias ? s.E : 0))};
    op.set_run([=](auto& exec, const auto& b) {
        gate_logits(exec, b.sum(0), b[1], b.sum(2), has_bias ? b.sum(3) : nullptr, s.N, s.C, s.E);
    });
    op.set_work(gate_logits_work(s.N, s.C, s.E, has_bias));
    return op;
}

inline OpCase gate_backward_input_case(Draw draw, GateShape s, Accumulate accumulate) {
    OpCase op;
    op.name = shape_text("gate_backward_input", s.N, s.C, s.E) + (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {accumulate == Accumulate::yes ? draw.update("dx", s.N * s.C) : output("dx", s.N * s.C),
                  stored_as(Item::sum, draw.input("dlogits", s.N * s.E)),
                  stored_as(Item::sum, draw.input("w", s.E * s.C, 1 / std::sqrt(s.E)))};
    op.set_run([=](auto& exec, const auto& b) {
        gate_backward_input(exec, b[0], b.sum(1), b.sum(2), s.N, s.C, s.E, accumulate);
    });
    op.derivative.gradients = {{0, std::nullopt}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> logits(static_cast<std::size_t>(s.N * s.E));
        reference::gate_logits<double>(exec, logits.data(), variable[0], b.sum(2), nullptr, s.N, s.C, s.E);
        return weighted_sum(b.sum(1), logits);
    };
    op.set_work(gate_backward_input_work(s.N, s.C, s.E, accumulate));
    return op;
}

inline OpCase gate_backward_weight_case(Draw draw, GateShape s, bool has_bias, Accumulate accumulate) {
    OpCase op;
    op.name = shape_text("gate_backward_weight", s.N, s.C, s.E) + (has_bias ? " bias" : "") +
              (accumulate == Accumulate::yes ? " accumulate" : "");
    op.buffers = {gradient(draw, "dw", s.E * s.C, accumulate), gradient(draw, "dbias", has_bias ? s.E : 0, accumulate),
                  stored_as(Item::sum, draw.input("dlogits", s.N * s.E)), draw.input("x", s.N * s.C)};
    op.set_run([=](auto& exec, const auto& b) {
        gate_backward_weight(exec, b.sum(0), has_bias ? b.sum(1) : nullptr, b.sum(2), b[3], s.N, s.C, s.E, accumulate);
    });
    op.derivative.gradients = {{0, std::nullopt}};
    if (has_bias) op.derivative.gradients.push_back({1, std::nullopt});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> logits(static_cast<std::size_t>(s.N * s.E));
        reference::gate_logits<double>(exec, logits.data(), b[3], variable[0], has_bias ? variable[1] : nullptr, s.N,
                                       s.C, s.E);
        return weighted_sum(b.sum(2), logits);
    };
    op.workspace = [=](int threads) { return cpu::gate_backward_weight_workspace(threads, s.N, s.C, s.E); };
    op.set_cuda_workspace([=](auto) { return cuda::gate_backward_weight_workspace(s.N, s.C, s.E); });
    op.set_work(gate_backward_weight_work(s.N, s.C, s.E, has_bias, accumulate));
    return op;
}

inline void add_expert_gate_cases(CaseTable& table) {
    for (const ExpertShape& s : expert_shapes(table.sizes())) {
        table.add([=](Draw draw) { return route_case(draw, s); });
        table.add([=](Draw draw) { return gate_weights_case(draw, s); });
        table.add([=](Draw draw) { return gate_losses_case(draw, s); });
        table.add([=](Draw draw) { return gate_backward_case(draw, s); });
        table.add([=](Draw draw) { return sum_routing_case(draw, s, Accumulate::no); });
        table.add([=](Draw draw) { return sum_routing_case(draw, s, Accumulate::yes); });
    }
    const bool is_odd = table.sizes() == Sizes::odd;
    for (const GateShape& s : gate_shapes(table.sizes())) {
        table.add([=](Draw draw) { return gate_logits_case(draw, s, false); });
        table.add([=](Draw draw) { return gate_backward_input_case(draw, s, Accumulate::yes); });
        table.add([=](Draw draw) { return gate_backward_weight_case(draw, s, false, Accumulate::no); });
        if (!is_odd) continue;
        table.add([=](Draw draw) { return gate_logits_case(draw, s, true); });
        table.add([=](Draw draw) { return gate_backward_input_case(draw, s, Accumulate::no); });
        table.add([=](Draw draw) { return gate_backward_weight_case(draw, s, true, Accumulate::yes); });
    }
}

}  // namespace deft::kernels::cases
