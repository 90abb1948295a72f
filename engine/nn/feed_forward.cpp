#include "engine/nn/feed_forward.h"

namespace deft::engine {

FeedForward::FeedForward(const Planner& plan, std::int64_t width, std::int64_t hidden)
    : in_(plan, "mlp.c_fc", ParameterKind::matrix, width, hidden),
      out_(plan, "mlp.c_proj", ParameterKind::residual, hidden, width),
      act_(plan.saved_output("act", {plan.B, plan.T, hidden})) {
    if (!plan.trains()) return;
    pre_ = plan.saved("pre", {plan.B, plan.T, hidden});
    d_hidden_ = plan.scratch("d_hidden", {plan.B, plan.T, hidden});
}

void FeedForward::forward(Exec& exec, Tensor out, Tensor x) const {
    forward_hidden(exec, x);
    out_.forward(exec, out, hidden(act_, x));
}

void FeedForward::forward_hidden(Exec& exec, Tensor x) const {
    in_.forward(exec, hidden(act_, x), pre_ ? hidden(pre_, x) : Tensor{}, x, Activation::gelu_tanh);
}

void FeedForward::recompute_activation(Exec& exec, Tensor x) const {
    // A product with its activation fused may take it of unrounded sums, which bf16 does not keep.
    if (act_.dtype == DType::bf16) return forward_hidden(exec, x);
    activation_forward(exec, hidden(act_, x), hidden(pre_, x), Activation::gelu_tanh);
}

void FeedForward::backward(Exec& exec, Tensor dx, Tensor dout, Tensor x, Accumulate accumulate) const {
    const Tensor d_hidden = hidden(d_hidden_, x);
    out_.backward_weight(exec, dout, hidden(act_, x), accumulate);
    out_.backward_input(exec, d_hidden, dout, hidden(pre_, x), Activation::gelu_tanh);
    in_.backward_weight(exec, d_hidden, x, accumulate);
    in_.backward_input(exec, dx, d_hidden);
}

}  // namespace deft::engine
