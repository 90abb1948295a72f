#include "engine/nn/attention_layer.h"

#include <stdexcept>

#include "engine/core/workspace.h"

namespace deft::engine {

AttentionLayer::AttentionLayer(const Planner& plan, std::int64_t width, std::int64_t heads, bool causal)
    : width_(width),
      heads_(heads),
      causal_(causal),
      qkv_linear_(plan, "attn.c_attn", ParameterKind::matrix, width, 3 * width),
      output_(plan, "attn.c_proj", ParameterKind::residual, width, width),
      qkv_(plan.saved("qkv", {plan.B, plan.T, 3 * width})),
      attended_(plan.saved("att", {plan.B, plan.T, width})),
      lse_(plan.saved("lse", plan.sums(), {plan.B, heads, plan.T})),
      d_qkv_(plan.scratch("d_qkv", {plan.B, plan.T, 3 * width})),
      positions_(plan.scratch("d_branch", {plan.B, plan.T, width})) {
    plan.arena.reserve_workspace(attention_workspace(plan.backend, plan.B, plan.T, heads, width / heads));
}

void AttentionLayer::forward(Exec& exec, Tensor out, Tensor x, const StreamRows& rows) const {
    const std::int64_t B = x.dim(0), K = x.dim(1);
    const Tensor qkv = qkv_.view({B, K, 3 * width_}), attended = attended_.view({B, K, width_});
    qkv_linear_.forward(exec, qkv, x);
    rows.packed.source ? attend_packed(exec, attended, qkv, rows) : attend(exec, attended, qkv, rows);
    output_.forward(exec, out, attended);
}

void AttentionLayer::attend(Exec& exec, Tensor out, Tensor qkv, const StreamRows& rows) const {
    attention_forward(exec, out, lse(out.dim(0), out.dim(1)), heads_of(qkv), {causal_, rows.length});
}

// out (1, M, C), qkv (1, M, 3C)
void AttentionLayer::attend_packed(Exec& exec, Tensor out, Tensor qkv, const StreamRows& rows) const {
    if (!causal_) throw std::logic_error("packed samples of a model that attends to later positions");
    const std::int64_t B = rows.B, T = rows.T;
    gather_rows(exec, d_qkv_.view({1, B * T, 3 * width_}), qkv, rows.packed.source);
    attention_forward(exec, positions_.view({B, T, width_}), lse(B, T), heads_of(d_qkv_.view({B, T, 3 * width_})), {true});
    gather_rows(exec, out, positions_.view({1, B * T, width_}), rows.packed.computed);
}

void AttentionLayer::backward(Exec& exec, Tensor dx, Tensor dout, Tensor x, const StreamRows& rows,
                              Accumulate accumulate) const {
    const std::int64_t B = x.dim(0), K = x.dim(1);
    const Tensor qkv = qkv_.view({B, K, 3 * width_}), attended = attended_.view({B, K, width_});
    const Tensor d_qkv = d_qkv_.view({B, K, 3 * width_}), d_attended = dx;
    output_.backward_weight(exec, dout, attended, accumulate);
    output_.backward_input(exec, d_attended, dout);
    attention_backward(exec, heads_of(d_qkv), d_attended, attended, heads_of(qkv), lse(B, K), {causal_, rows.length});
    qkv_linear_.backward_weight(exec, d_qkv, x, accumulate);
    qkv_linear_.backward_input(exec, dx, d_qkv);
}

TrainingFlops AttentionLayer::flops() const {
    // Of each pair of rows a product with the key and one with the value, forward, and twice as many backward; a causal
    // row meets half of the others.
    const TrainingFlops pairs{0, (causal_ ? 6.0 : 12.0) * static_cast<double>(width_)};
    return qkv_linear_.flops() + output_.flops() + pairs;
}

}  // namespace deft::engine
