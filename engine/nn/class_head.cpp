#include "engine/nn/class_head.h"

#include <stdexcept>

#include "engine/core/workspace.h"

namespace deft::engine {

namespace {

Tensor first_rows(const Tensor& buffer, std::int64_t B) {
    return buffer.view({B, buffer.columns()});
}

}  // namespace

ClassHead::ClassHead(const Planner& plan, std::int64_t width, const ClassHeadConfig& config,
                     std::int64_t dropout_number)
    : pooling_(config.pooling),
      dropout_(config.dropout),
      dropout_number_(dropout_number),
      is_regression_(config.value),
      pooled_(plan.saved("pooled", {plan.B, width})) {
    if (config.value && config.classes != 1) throw std::logic_error("a head of one value with several classes");
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
    const std::int64_t B = packed.samples(), C = dx.columns();
    const Tensor first = packed.start.view({1, B}), d_first = d_first_.view({1, B, C});
    if (of_dx == Accumulate::no) {
        // All rows become 0 but the first, which is that of the first sample; then the others' first rows.
        pool_backward(exec, dx, d_pooled.view({B, C}).slice(0).view({1, C}), Pooling::first, Accumulate::no);
        return residual_forward(exec, dx, first, d_pooled.view({1, B, C}), {});
    }
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

void ClassHead::drop(Exec& exec, Tensor features, const DropoutKeys& random) const {
    if (dropout_ == 0 || !random.draw) return;
    dropout(exec, features, features, {}, {random.seed, random.step, dropout_number_, random.draw, dropout_});
}

void ClassHead::train(Exec& exec, const LabelledRows& rows, Tensor dx, Accumulate of_dx, Tensor x,
                      const SampleStarts& packed, const DropoutKeys& random, StepValue<double> scale,
                      Accumulate accumulate) const {
    const std::int64_t B = rows.target.dim(0);
    const Tensor read = features(exec, x, packed), d_features = first_rows(d_features_, B);
    drop(exec, read, random);
    if (is_regression_)
        value_loss_train(exec, rows.loss, rows.value, d_features, weight_.grad, bias_.grad, read, weight_.compute,
                         bias_.compute, rows.target, scale, accumulate);
    else
        head_loss_train(exec, rows.loss, d_features, weight_.grad, bias_.grad, read, weight_.compute, bias_.compute,
                        rows.target, rows.target_rows, scale, accumulate);
    drop(exec, d_features, random);
    Tensor d_pooled = d_features;
    if (pooler_) {
        d_pooled = first_rows(d_pooled_, B);
        activation_backward(exec, d_features, d_features, first_rows(pre_, B), Activation::tanh);
        pooler_->backward_weight(exec, d_features, first_rows(pooled_, B), accumulate);
        pooler_->backward_input(exec, d_pooled, d_features);
    }
    pool_gradient(exec, dx, d_pooled, of_dx, packed);
}

void ClassHead::evaluate(Exec& exec, const LabelledRows& rows, Tensor x, const SampleStarts& packed) const {
    const Tensor read = features(exec, x, packed);
    if (is_regression_)
        value_loss(exec, rows.loss, rows.value, read, weight_.compute, bias_.compute, rows.target);
    else
        head_loss(exec, rows.loss, rows.greedy, read, weight_.compute, bias_.compute, rows.target, rows.target_rows);
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
