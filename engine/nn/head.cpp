#include "engine/nn/head.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Head::Head(const Planner& plan, const Parameter& tokens, const HeadConfig& config)
    : target_share_(config.target_share), weight_(tokens) {
    const std::int64_t V = tokens.value.dim(0), C = tokens.value.dim(1);
    if (!config.tied) weight_ = plan.weight("lm_head.weight", ParameterKind::embedding, {V, C});
    if (config.bias) bias_ = plan.weight("lm_head.bias", ParameterKind::bias, {V});
    plan.arena.reserve_workspace(head_workspace(plan.backend, plan.rows(), C, V));
}

void Head::train(Exec& exec, Tensor loss, Tensor dx, Tensor x, Tensor target, std::int64_t target_rows, double scale,
                 Accumulate accumulate) const {
    head_loss_train(exec, loss, dx, weight_.grad, bias_.grad, x, weight_.compute, bias_.compute, target, target_rows,
                    scale, accumulate);
}

void Head::evaluate(Exec& exec, Tensor loss, Tensor greedy, Tensor x, Tensor target, std::int64_t target_rows) const {
    head_loss(exec, loss, greedy, x, weight_.compute, bias_.compute, target, target_rows);
}

void Head::logits(Exec& exec, Tensor out, Tensor x) const {
    linear_forward(exec, out, {}, x, weight_.compute, bias_.compute, Activation::none);
}

}  // namespace deft::engine
