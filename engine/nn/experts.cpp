#include "engine/nn/experts.h"

#include <algorithm>

#include "engine/core/workspace.h"

namespace deft::engine {

namespace {

// The first rows of a buffer, as many as a pass has.
Tensor leading_rows(const Tensor& buffer, std::int64_t rows) {
    if (!buffer) return {};
    return buffer.rank == 1 ? buffer.view({rows}) : buffer.view({rows, buffer.columns()});
}

// Rows that may come to this rank's experts while a model trains, from all ranks: what their capacity lets through.
// Room for a pass without it is made by taking fewer samples at once, see samples_at_once().
std::int64_t most_rows_here(const Planner& plan, const ExpertsConfig& experts) {
    const std::int64_t ranks = plan.ranks.experts.ranks, all = ranks * plan.rows() * experts.top;
    if (experts.capacity_factor == 0) return all;
    const std::int64_t taken =
        experts.count * kernels::expert_capacity(experts.capacity(), plan.rows(), experts.count, experts.top);
    const std::int64_t dropless = ranks * samples_at_once(plan.B, plan.ranks) * plan.T * experts.top;
    return std::min(all, std::max(taken, dropless));
}

Tensor rows_shaped_as(const Tensor& buffer, const Tensor& x) {
    return buffer.view({x.dim(0), x.dim(1), x.dim(2)});
}

}  // namespace

Experts::Experts(const Planner& plan, std::int64_t width, const FeedForwardConfig& config, const ExpertsConfig& experts)
    : config_(config), experts_(experts) {
    const std::int64_t N = plan.rows(), E = experts.count, k = experts.top, slots = N * k, C = width;
    const std::int64_t hidden = config.hidden, before = kernels::columns_before(config.activation, hidden);
    const DType sums = plan.sums();
    gate_ = plan.unrounded_weight("mlp.gate.weight", ParameterKind::matrix, {E, C});
    in_ = plan.expert_weight("mlp.experts.c_fc.weight", ParameterKind::matrix, {E, before, C});
    out_ = plan.expert_weight("mlp.experts.c_proj.weight", ParameterKind::residual, {E, C, hidden});
    if (config.bias) {
        in_bias_ = plan.expert_weight("mlp.experts.c_fc.bias", ParameterKind::bias, {E, before});
        out_bias_ = plan.expert_weight("mlp.experts.c_proj.bias", ParameterKind::bias, {E, C});
    }

    logits_ = plan.saved("gate.logits", sums, {N, E});
    prob_ = plan.saved("gate.prob", sums, {N, E});
    lse_ = plan.saved("gate.lse", sums, {N});
    weight_ = plan.saved("gate.weight", sums, {N, k});
    expert_ = plan.saved("gate.expert", DType::i32, {N, k});
    slot_ = plan.saved("gate.slot", DType::i32, {N, k});
    row_ = plan.saved("gate.row", DType::i32, {slots});
    // The row counts of a layer stay its own, even if its saved tensors share memory.
    start_ = plan.arena.add(Region::activations, plan.prefix + "gate.start", DType::i32, {E + 1});
    chosen_ = plan.arena.add(Region::activations, plan.prefix + "gate.chosen", DType::i32, {E + 1});
    losses_ = plan.arena.add(Region::activations, plan.prefix + "gate.losses", sums, {kernels::kGateLosses});

    const std::int64_t ranks = plan.ranks.experts.ranks, M = ranks == 1 ? slots : most_rows_here(plan, experts);
    if (ranks > 1) {
        exchange_.emplace(plan, E, M, C);
        received_ = plan.saved("experts.received", {M, C});
        returned_ = plan.scratch("experts.returned", {M, C});
        plan.arena.reserve_workspace(experts_workspace(plan.backend, ranks * N, E / ranks, k, C, before, hidden));
    }
    act_ = plan.saved_output("experts.act", {M, hidden});
    if (plan.trains() || config.is_gated()) pre_ = plan.saved("experts.pre", {M, before});
    y_ = plan.saved("experts.y", {slots, C});
    gathered_ = plan.scratch("experts.gathered", {slots, C});
    if (experts.jitter > 0) jittered_ = plan.scratch("experts.jittered", {N, C});
    plan.arena.reserve_workspace(experts_workspace(plan.backend, N, E, k, C, before, hidden));

    if (experts.residual) {
        dense_.emplace(plan, width, config);
        mix_ = plan.unrounded_weight("mlp.coefficient.weight", ParameterKind::matrix, {2, C});
        mix_bias_ = plan.unrounded_weight("mlp.coefficient.bias", ParameterKind::bias, {2});
        mix_logits_ = plan.saved("mix.logits", sums, {N, 2});
        moe_out_ = plan.saved("mix.experts", {N, C});
        dense_out_ = plan.saved("mix.dense", {N, C});
    }
    if (!plan.trains()) return;
    d_hidden_ = plan.scratch("experts.d_hidden", {M, before});
    if (config.is_gated()) d_act_ = plan.scratch("experts.d_act", {M, hidden});
    const auto sums_scratch = [&](const char* name, std::int64_t columns) {
        return plan.arena.add_shared(name, sums, {N, columns});
    };
    d_logits_ = sums_scratch("scratch.gate.d_logits", E);
    d_weight_ = sums_scratch("scratch.gate.d_weight", k);
    if (experts.residual) d_mix_ = sums_scratch("scratch.mix.d_logits", 2);
}

void Experts::forward(Exec& exec, Tensor out, Tensor x, const RoutingRows& rows) const {
    forward_hidden(exec, x, rows);
    const std::int64_t N = x.rows();
    if (dense_)
        mix_rows(exec, out, leading_rows(moe_out_, N), leading_rows(dense_out_, N), leading_rows(mix_logits_, N));
    else
        combine_rows(exec, out, leading_rows(y_, N * experts_.top), leading_rows(weight_, N), leading_rows(slot_, N));
}

void Experts::forward_hidden(Exec& exec, Tensor x, const RoutingRows& rows) const {
    const std::int64_t N = x.rows(), slots = N * experts_.top;
    choose(exec, x, rows);
    gather(exec, x);
    if (exchange_) exchange_->exchange_counts(exec, start_);
    const ExpertRows here = expert_rows(slots);
    if (exchange_) exchange_->to_experts(exec, here.x, gathered_);
    const Tensor pre = leading_rows(pre_, here.n), act = leading_rows(act_, here.n), y = leading_rows(y_, slots);
    if (config_.is_gated()) {
        grouped_linear_forward(exec, pre, {}, here.x, in_.compute, in_bias_.compute, here.start, Activation::none);
        activation_forward(exec, act, pre, config_.activation);
    } else {
        grouped_linear_forward(exec, act, pre, here.x, in_.compute, in_bias_.compute, here.start, config_.activation);
    }
    const Tensor out = exchange_ ? leading_rows(returned_, here.n) : y;
    grouped_linear_forward(exec, out, {}, act, out_.compute, out_bias_.compute, here.start, Activation::none);
    if (exchange_) exchange_->from_experts(exec, y, out);
    if (!dense_) return;
    combine_rows(exec, leading_rows(moe_out_, N), y, leading_rows(weight_, N), leading_rows(slot_, N));
    dense_->forward(exec, rows_shaped_as(dense_out_, x), x);
    gate_logits(exec, leading_rows(mix_logits_, N), x, mix_.compute, mix_bias_.compute);
}

Experts::ExpertRows Experts::expert_rows(std::int64_t slots) const {
    if (!exchange_) return {slots, leading_rows(gathered_, slots), start_};
    const std::int64_t n = std::max<std::int64_t>(1, exchange_->rows());
    return {n, leading_rows(received_, n), exchange_->start()};
}

Tensor Experts::gate_input(Exec& exec, Tensor x, const RoutingRows& rows) const {
    if (experts_.jitter == 0 || !rows.draw) return x;
    const Tensor jittered = rows_shaped_as(jittered_, x);
    jitter_rows(exec, jittered, x, {}, rows, experts_.jitter);
    return jittered;
}

void Experts::choose(Exec& exec, Tensor x, const RoutingRows& rows) const {
    const std::int64_t N = x.rows();
    const bool trains = bool(rows.draw);
    const Tensor logits = leading_rows(logits_, N), prob = leading_rows(prob_, N), lse = leading_rows(lse_, N);
    const Tensor expert = leading_rows(expert_, N), slot = leading_rows(slot_, N);
    gate_logits(exec, logits, gate_input(exec, x, rows), gate_.compute, {});
    route(exec, prob, lse, expert, logits, rows, trains && experts_.sampled_noise);
    place_choices(exec, start_, leading_rows(row_, N * experts_.top), slot, expert, rows,
                  trains                          ? experts_.capacity()
                  : experts_.scores_with_capacity ? CapacitySpec{experts_.capacity_factor, experts_.min_capacity}
                                                  : CapacitySpec{});
    gate_weights(exec, leading_rows(weight_, N), prob, expert, slot);
    gate_losses(exec, losses_, chosen_, prob, lse, logits, expert);
}

void Experts::gather(Exec& exec, Tensor x) const {
    const std::int64_t N = x.rows(), slots = N * experts_.top, C = x.columns();
    gather_rows(exec, gathered_.view({1, slots, C}), x.view({1, N, C}), row_.view({1, slots}));
}

void Experts::recompute_activation(Exec& exec, Tensor x) const {
    const std::int64_t n = expert_rows(x.rows() * experts_.top).n;
    activation_forward(exec, leading_rows(act_, n), leading_rows(pre_, n), config_.activation);
    if (dense_) dense_->recompute_activation(exec, x);
}

void Experts::backward(Exec& exec, Tensor dx, Tensor dout, Tensor x, const RoutingRows& rows, double loss_scale,
                       Accumulate accumulate) const {
    const std::int64_t N = x.rows();
    Tensor d_moe = dout;
    const Tensor d_dense = dense_ ? rows_shaped_as(dense_out_, x) : Tensor{}, d_mix = leading_rows(d_mix_, N);
    if (dense_) {
        d_moe = rows_shaped_as(moe_out_, x);
        mix_backward(exec, d_moe, d_dense, d_mix, dout, d_moe, d_dense, leading_rows(mix_logits_, N));
    }
    backward_slots(exec, d_moe, x, accumulate);
    combine_rows(exec, dx, leading_rows(gathered_, N * experts_.top), {}, leading_rows(slot_, N));
    backward_gate(exec, dx, x, rows, loss_scale, accumulate);
    if (!dense_) return;
    dense_->backward(exec, d_dense, d_dense, x, accumulate);
    residual_forward(exec, dx, {}, dx, d_dense);
    gate_backward_weight(exec, mix_.grad, mix_bias_.grad, d_mix, x, accumulate);
    gate_backward_input(exec, dx, d_mix, mix_.compute, Accumulate::yes);
}

void Experts::backward_slots(Exec& exec, Tensor d_moe, Tensor x, Accumulate accumulate) const {
    const std::int64_t N = x.rows(), slots = N * experts_.top;
    const Tensor d_slots = leading_rows(y_, slots);  // what stood there is not read again
    combine_backward(exec, d_slots, leading_rows(d_weight_, N), d_moe, d_slots, leading_rows(weight_, N),
                     leading_rows(slot_, N));
    const ExpertRows here = expert_rows(slots);
    const Tensor dy = exchange_ ? leading_rows(returned_, here.n) : d_slots;
    if (exchange_) exchange_->to_experts(exec, dy, d_slots);
    const Tensor d_hidden = leading_rows(d_hidden_, here.n), pre = leading_rows(pre_, here.n);
    grouped_linear_backward_weight(exec, out_.grad, out_bias_.grad, dy, leading_rows(act_, here.n), here.start,
                                   accumulate);
    if (config_.is_gated()) {
        const Tensor d_act = leading_rows(d_act_, here.n);
        grouped_linear_backward_input(exec, d_act, dy, out_.compute, {}, here.start, Activation::none);
        activation_backward(exec, d_hidden, d_act, pre, config_.activation);
    } else {
        grouped_linear_backward_input(exec, d_hidden, dy, out_.compute, pre, here.start, config_.activation);
    }
    if (!exchange_) gather(exec, x);
    grouped_linear_backward_weight(exec, in_.grad, in_bias_.grad, d_hidden, here.x, here.start, accumulate);
    const Tensor dx = exchange_ ? leading_rows(returned_, here.n) : here.x;
    grouped_linear_backward_input(exec, dx, d_hidden, in_.compute, {}, here.start, Activation::none);
    if (exchange_) exchange_->from_experts(exec, leading_rows(gathered_, slots), dx);
}

void Experts::backward_gate(Exec& exec, Tensor dx, Tensor x, const RoutingRows& rows, double loss_scale,
                            Accumulate accumulate) const {
    const std::int64_t N = x.rows();
    const Tensor d_logits = leading_rows(d_logits_, N);
    gate_backward(exec, d_logits, leading_rows(d_weight_, N), leading_rows(logits_, N), leading_rows(expert_, N),
                  leading_rows(slot_, N), chosen_, loss_scale * experts_.aux_weight, loss_scale * experts_.z_weight);
    const Tensor seen = gate_input(exec, x, rows);
    gate_backward_weight(exec, gate_.grad, {}, d_logits, seen, accumulate);
    if (seen.data == x.data) return gate_backward_input(exec, dx, d_logits, gate_.compute, Accumulate::yes);
    gate_backward_input(exec, seen, d_logits, gate_.compute, Accumulate::no);
    jitter_rows(exec, dx, seen, dx, rows, experts_.jitter);
}

void Experts::sum_totals(Exec& exec, Tensor totals, double weight, Accumulate accumulate) const {
    sum_routing(exec, totals, losses_, chosen_, start_, weight, accumulate);
}

std::int64_t Experts::parameters_of_expert() const {
    std::int64_t of_all = 0;
    for (const Parameter& parameter : {in_, in_bias_, out_, out_bias_}) of_all += parameter.value.numel();
    return of_all / in_.value.dim(0);
}

TrainingFlops Experts::flops() const {
    TrainingFlops flops = flops_of_parameters({gate_, mix_, mix_bias_});
    flops.per_row += 6.0 * static_cast<double>(experts_.top * parameters_of_expert());
    if (dense_) flops = flops + dense_->flops();
    return flops;
}

}  // namespace deft::engine
