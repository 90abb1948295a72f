#include "engine/nn/feed_forward.h"

namespace deft::engine {

FeedForward::FeedForward(const Planner& plan, std::int64_t width, const FeedForwardConfig& config)
    : config_(config),
      in_(plan, "mlp.c_fc", ParameterKind::matrix, width, kernels::columns_before(config.activation, config.hidden),
          config.bias),
      out_(plan, "mlp.c_proj", ParameterKind::residual, config.hidden, width, config.bias),
      act_(plan.saved_output("act", {plan.B, plan.T, config.hidden})) {
    const std::int64_t before = kernels::columns_before(config.activation, config.hidden);
    // A gated activation is an op of its own, which reads pre; any other needs it for the backward pass alone.
    if (plan.trains() || config.is_gated()) pre_ = plan.saved("pre", {plan.B, plan.T, before});
    if (!plan.trains()) return;
    d_hidden_ = plan.scratch("d_hidden", {plan.B, plan.T, before});
    if (config.is_gated()) d_act_ = plan.scratch("d_act", {plan.B, plan.T, config.hidden});
}

void FeedForward::forward(Exec& exec, Tensor out, Tensor x) const {
    forward_hidden(exec, x);
    out_.forward(exec, out, hidden(act_, x));
}

void FeedForward::forward_hidden(Exec& exec, Tensor x) const {
    if (config_.is_gated()) {
        in_.forward(exec, hidden(pre_, x), x);
        activation_forward(exec, hidden(act_, x), hidden(pre_, x), config_.activation);
    } else {
        in_.forward(exec, hidden(act_, x), pre_ ? hidden(pre_, x) : Tensor{}, x, config_.activation);
    }
}

void FeedForward::recompute_activation(Exec& exec, Tensor x) const {
    // A product with its activation fused may take it of unrounded sums, which bf16 does not keep.
    if (act_.dtype == DType::bf16 && !config_.is_gated()) return forward_hidden(exec, x);
    activation_forward(exec, hidden(act_, x), hidden(pre_, x), config_.activation);
}

Tensor FeedForward::backward_hidden(Exec& exec, Tensor dout, Tensor x) const {
    const Tensor d_hidden = hidden(d_hidden_, x), pre = hidden(pre_, x);
    if (config_.is_gated()) {
        out_.backward_input(exec, hidden(d_act_, x), dout);
        activation_backward(exec, d_hidden, hidden(d_act_, x), pre, config_.activation);
    } else {
        out_.backward_input(exec, d_hidden, dout, pre, config_.activation);
    }
    return d_hidden;
}

void FeedForward::backward(Exec& exec, Tensor dx, Tensor dout, Tensor x, Accumulate accumulate) const {
    out_.backward_weight(exec, dout, hidden(act_, x), accumulate);
    const Tensor d_hidden = backward_hidden(exec, dout, x);
    in_.backward_weight(exec, d_hidden, x, accumulate);
    in_.backward_input(exec, dx, d_hidden);
}

}  // namespace deft::engine
