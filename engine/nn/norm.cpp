#include "engine/nn/norm.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Norm::Norm(const Planner& plan, const std::string& weight_name, const std::string& name, std::int64_t width,
           const NormSpec& spec, NormOutput output)
    : spec_(spec), weight_(plan.weight(weight_name + ".weight", ParameterKind::norm, {width})) {
    const bool is_layer = spec.kind == NormKind::layer;
    if (is_layer) bias_ = plan.weight(weight_name + ".bias", ParameterKind::bias, {width});
    if (output == NormOutput::own) y_ = plan.saved_output(name, {plan.B, plan.T, width});
    if (is_layer) mean_ = plan.saved(name + "_mean", plan.sums(), {plan.B, plan.T});
    rstd_ = plan.saved(name + "_rstd", plan.sums(), {plan.B, plan.T});
    plan.arena.reserve_workspace(norm_workspace(plan.backend, plan.rows(), width));
}

void Norm::forward_to(Exec& exec, Tensor y, const Residual& in, Tensor sum) const {
    const std::int64_t B = in.rows.dim(0), K = in.rows.dim(1);
    if (in.branch)
        residual_norm_forward(exec, y, sum, mean(B, K), rstd_.view({B, K}), in.rows, in.branch, weight_.compute,
                              bias_.compute, spec_);
    else
        norm_forward(exec, y, {}, mean(B, K), rstd_.view({B, K}), in.rows, {}, weight_.compute, bias_.compute, spec_);
}

Tensor Norm::forward(Exec& exec, const Residual& in, Tensor sum) const {
    const Tensor y = output(in.rows.dim(0), in.rows.dim(1));
    forward_to(exec, y, in, sum);
    return y;
}

Tensor Norm::forward_rows(Exec& exec, Tensor gathered, Tensor stream, Tensor index) const {
    const std::int64_t B = stream.dim(0), K = index.dim(1);
    const Tensor y = output(B, K);
    norm_forward(exec, y, gathered, mean(B, K), rstd_.view({B, K}), stream, index, weight_.compute, bias_.compute,
                 spec_);
    return y;
}

void Norm::backward(Exec& exec, Tensor dx, Tensor index, Tensor dy, Tensor dresidual, Tensor x,
                    Accumulate accumulate) const {
    const std::int64_t B = x.dim(0), K = x.dim(1);
    norm_backward(exec, dx, index, weight_.grad, bias_.grad, dy, dresidual, x, mean(B, K), rstd_.view({B, K}),
                  weight_.compute, accumulate, spec_);
}

}  // namespace deft::engine
