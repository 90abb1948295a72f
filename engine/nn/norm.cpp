#include "engine/nn/norm.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Norm::Norm(const Planner& plan, const std::string& weight_name, const std::string& name, std::int64_t width)
    : weight_(plan.weight(weight_name + ".weight", ParameterKind::norm, {width})),
      bias_(plan.weight(weight_name + ".bias", ParameterKind::bias, {width})),
      y_(plan.saved_output(name, {plan.B, plan.T, width})),
      mean_(plan.saved(name + "_mean", plan.sums(), {plan.B, plan.T})),
      rstd_(plan.saved(name + "_rstd", plan.sums(), {plan.B, plan.T})) {
    plan.arena.reserve_workspace(norm_workspace(plan.backend, plan.rows(), width));
}

Tensor Norm::forward(Exec& exec, const Residual& in, Tensor sum) const {
    if (!in.branch) return forward_rows(exec, {}, in.rows, {});
    const std::int64_t B = in.rows.dim(0), K = in.rows.dim(1);
    const Tensor y = output(B, K);
    residual_norm_forward(exec, y, sum, mean_.view({B, K}), rstd_.view({B, K}), in.rows, in.branch,
                               weight_.compute, bias_.compute);
    return y;
}

Tensor Norm::forward_rows(Exec& exec, Tensor gathered, Tensor stream, Tensor index) const {
    const std::int64_t B = stream.dim(0), K = index ? index.dim(1) : stream.dim(1);
    const Tensor y = output(B, K);
    norm_forward(exec, y, gathered, mean_.view({B, K}), rstd_.view({B, K}), stream, index, weight_.compute,
                      bias_.compute);
    return y;
}

void Norm::backward(Exec& exec, Tensor dx, Tensor index, Tensor dy, Tensor dresidual, Tensor x,
                    Accumulate accumulate) const {
    const std::int64_t B = x.dim(0), K = x.dim(1);
    norm_backward(exec, dx, index, weight_.grad, bias_.grad, dy, dresidual, x, mean_.view({B, K}),
                       rstd_.view({B, K}), weight_.compute, accumulate);
}

}  // namespace deft::engine
