#include "engine/nn/head.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Head::Transform::Transform(const Planner& plan, std::int64_t width, const HeadTransform& config)
    : activation(config.activation),
      dense(plan, "lm_head.dense", ParameterKind::matrix, width, width, true),
      norm(plan, "lm_head.ln", "head", width, config.norm),
      act_(plan.saved("head_act", {plan.B, plan.T, width})) {
    if (!plan.trains()) return;
    pre_ = plan.saved("head_pre", {plan.B, plan.T, width});
    d_output_ = plan.scratch("branch", {plan.B, plan.T, width});
    d_hidden_ = plan.scratch("d_rows", {plan.B, plan.T, width});
}

Tensor Head::Transform::forward(Exec& exec, Tensor x) const {
    const auto rows = {x.dim(0), x.dim(1), x.dim(2)};
    const Tensor act = act_.view(rows);
    dense.forward(exec, act, pre_ ? pre_.view(rows) : Tensor{}, x, activation);
    return norm.forward(exec, {act, {}}, {});
}

void Head::Transform::backward(Exec& exec, Tensor dx, Tensor x, Accumulate accumulate) const {
    const auto rows = {x.dim(0), x.dim(1), x.dim(2)};
    const Tensor d_hidden = d_hidden_.view(rows);
    norm.backward(exec, d_hidden, {}, d_output(x), {}, act_.view(rows), accumulate);
    activation_backward(exec, d_hidden, d_hidden, pre_.view(rows), activation);
    dense.backward_weight(exec, d_hidden, x, accumulate);
    dense.backward_input(exec, dx, d_hidden);
}

Head::Head(const Planner& plan, const Parameter& tokens, const HeadConfig& config)
    : target_share_(config.target_share), weight_(tokens) {
    const std::int64_t V = tokens.value.dim(0), C = tokens.value.dim(1);
    if (config.transform) transform_.emplace(plan, C, *config.transform);
    if (!config.tied) weight_ = plan.vocabulary_weight("lm_head.weight", V, C);
    if (config.bias) bias_ = plan.weight("lm_head.bias", ParameterKind::bias, {V});
    plan.arena.reserve_workspace(head_workspace(plan.backend, plan.rows(), C, V));
}

void Head::train(Exec& exec, Tensor loss, Tensor dx, Tensor x, Tensor target, std::int64_t target_rows,
                 StepValue<double> scale, Accumulate accumulate) const {
    const Tensor read = transform_ ? transform_->forward(exec, x) : x;
    head_loss_train(exec, loss, transform_ ? transform_->d_output(x) : dx, weight_.grad, bias_.grad, read,
                    weight_.compute, bias_.compute, target, target_rows, scale, accumulate, weight_.stored_rows);
    if (transform_) transform_->backward(exec, dx, x, accumulate);
}

void Head::evaluate(Exec& exec, Tensor loss, Tensor greedy, Tensor x, Tensor target, std::int64_t target_rows) const {
    head_loss(exec, loss, greedy, transform_ ? transform_->forward(exec, x) : x, weight_.compute, bias_.compute, target,
              target_rows, weight_.stored_rows);
}

void Head::logits(Exec& exec, Tensor out, Tensor x) const {
    const Tensor read = transform_ ? transform_->norm.output(x.dim(0), x.dim(1)) : x;
    linear_forward(exec, out, {}, read, weight_.compute, bias_.compute, Activation::none);
}

void Head::next_logits(Exec& exec, Tensor out, Tensor x) const {
    linear_forward(exec, out, {}, transform_ ? transform_->forward(exec, x) : x, weight_.compute, bias_.compute,
                   Activation::none);
}

TrainingFlops Head::flops() const {
    const TrainingFlops vocabulary = {target_share_ * flops_of_parameters({weight_, bias_}).per_row, 0};
    return transform_ ? vocabulary + transform_->dense.flops() + transform_->norm.flops() : vocabulary;
}

}  // namespace deft::engine
