#include "engine/nn/head.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Head::Head(const Planner& plan, const Parameter& weight) : weight_(weight) {
    plan.arena.reserve_workspace(
        head_workspace(plan.backend, plan.rows(), weight.value.dim(1), weight.value.dim(0)));
}

void Head::train(Exec& exec, Tensor loss, Tensor dx, Tensor x, Tensor target, std::int64_t target_rows, double scale,
                 Accumulate accumulate) const {
    head_loss_train(exec, loss, dx, weight_.grad, {}, x, weight_.compute, {}, target, target_rows, scale, accumulate);
}

void Head::evaluate(Exec& exec, Tensor loss, Tensor greedy, Tensor x, Tensor target, std::int64_t target_rows) const {
    head_loss(exec, loss, greedy, x, weight_.compute, {}, target, target_rows);
}

void Head::logits(Exec& exec, Tensor out, Tensor x) const {
    linear_forward(exec, out, {}, x, weight_.compute, {}, Activation::none);
}

}  // namespace deft::engine
