#include "engine/nn/linear.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Linear::Linear(const Planner& plan, const std::string& name, ParameterKind kind, std::int64_t in, std::int64_t out,
               bool has_bias)
    : weight_(plan.weight(name + ".weight", kind, {out, in})),
      bias_(has_bias ? plan.weight(name + ".bias", ParameterKind::bias, {out}) : Parameter{}) {
    plan.arena.reserve_workspace(linear_workspace(plan.backend, plan.rows(), in, out));
}

void Linear::forward(Exec& exec, Tensor y, Tensor x) const {
    linear_forward(exec, y, {}, x, weight_.compute, bias_.compute, Activation::none);
}

void Linear::forward(Exec& exec, Tensor y, Tensor pre, Tensor x, Activation activation) const {
    linear_forward(exec, y, pre, x, weight_.compute, bias_.compute, activation);
}

void Linear::backward_input(Exec& exec, Tensor dx, Tensor dy) const {
    linear_backward_input(exec, dx, dy, weight_.compute, {}, Activation::none);
}

void Linear::backward_input(Exec& exec, Tensor dx, Tensor dy, Tensor pre, Activation activation) const {
    linear_backward_input(exec, dx, dy, weight_.compute, pre, activation);
}

void Linear::backward_weight(Exec& exec, Tensor dy, Tensor x, Accumulate accumulate) const {
    linear_backward_weight(exec, weight_.grad, bias_.grad, dy, x, accumulate);
}

}  // namespace deft::engine
