#include "engine/nn/class_head.h"

#include <stdexcept>

#include "engine/core/workspace.h"

namespace deft::engine {

namespace {

Tensor first_rows(const Tensor& buffer, std::int64_t B) {
    return buffer.view({B, buffer.columns()});
}

}  // namespace

ClassHead::ClassHead(const Planner& plan, std::int64_t width, const ClassHeadConfig& config)
    : pooling_(config.pooling), pooled_(plan.saved("pooled", {plan.B, width})) {
    if (config.pooler) {
        pooler_.emplace(plan, "pooler", ParameterKind::matrix, width, width, true);
        pre_ = plan.saved("pooler_pre", {plan.B, width});
        act_ = plan.saved("pooler_act", {plan.B, width});
    }
    weight_ = plan.weight("class_head.weight", ParameterKind::matrix, {config.classes, width});
    bias_ = plan.weight("class_head.bias", ParameterKind::bias, {config.classes});
    plan.arena.reserve_workspace(head_workspace(plan.backend, plan.B, width, config.classes));
    if (!plan.trains()) return;
    d_first_ = plan.scratch("d_rows", {plan.B, width});
    d_features_ = plan.saved("d_features", {plan.B, width});
    if (config.pooler) d_pooled_ = plan.saved("d_pooled", {plan.B, width});
}

void ClassHead::pool(Exec& exec, Tensor pooled, Tensor x, const SampleStarts& packed) const {
    if (!packed) return pool_forward(exec, pooled, x, pooling_);
    if (pooling_ != Pooling::first) throw std::logic_error("packed samples are pooled by their first row alone");
    const std::int64_t B = packed.samples();
    gather_rows(exec, pooled.view({1, B, x.columns()}), x, packed.start.view({1, B}));
}

void ClassHead::pool_gradient(Exec& exec, Tensor dx, Tensor d_pooled, Accumulate of_dx,
                              const SampleStarts& packed) const {
    if (!packed) return pool_backward(exec, dx, d_pooled, pooling_, of_dx);
    if (of_dx == Accumulate::no) throw std::logic_error("packed samples without a head of tokens");
    const std::int64_t B = packed.samples(), C = dx.columns();
    const Tensor first = packed.start.view({1, B}), d_first = d_first_.view({1, B, C});
    gather_rows(exec, d_first, dx, first);
    residual_forward(exec, dx, first, d_pooled.view({1, B, C}), d_first);
}

Tensor ClassHead::features(Exec& exec, Tensor x, const SampleStarts& packed) const {
    const std::int64_t B = packed ? packed.samples() : x.dim(0);
    const Tensor pooled = first_rows(pooled_, B);
    pool(exec, pooled, x, packed);
    if (!pooler_) return pooled;
    const Tensor act = first_rows(act_, B);
    pooler_->forward(exec, act, first_rows(pre_, B), pooled, Activation::tanh);
    return act;
}

void ClassHead::train(Exec& exec, Tensor loss, Tensor dx, Accumulate of_dx, Tensor x, const SampleStarts& packed,
                      Tensor target, std::int64_t target_rows, double scale, Accumulate accumulate) const {
    const std::int64_t B = target.dim(0);
    const Tensor read = features(exec, x, packed), d_features = first_rows(d_features_, B);
    head_loss_train(exec, loss, d_features, weight_.grad, bias_.grad, read, weight_.compute, bias_.compute,
                    target, target_rows, scale, accumulate);
    Tensor d_pooled = d_features;
    if (pooler_) {
        d_pooled = first_rows(d_pooled_, B);
        activation_backward(exec, d_features, d_features, first_rows(pre_, B), Activation::tanh);
        pooler_->backward_weight(exec, d_features, first_rows(pooled_, B), accumulate);
        pooler_->backward_input(exec, d_pooled, d_features);
    }
    pool_gradient(exec, dx, d_pooled, of_dx, packed);
}

void ClassHead::evaluate(Exec& exec, Tensor loss, Tensor greedy, Tensor x, const SampleStarts& packed, Tensor target,
                         std::int64_t target_rows) const {
    head_loss(exec, loss, greedy, features(exec, x, packed), weight_.compute, bias_.compute, target,
              target_rows);
}

void ClassHead::logits(Exec& exec, Tensor out) const {
    const Tensor read = first_rows(pooler_ ? act_ : pooled_, out.dim(0));
    linear_forward(exec, out, {}, read, weight_.compute, bias_.compute, Activation::none);
}

TrainingFlops ClassHead::flops() const {
    double per_sample = flops_of_parameters({weight_, bias_}).per_row;
    if (pooler_) per_sample += pooler_->flops().per_row;
    return {0, 0, per_sample};
}

}  // namespace deft::engine
