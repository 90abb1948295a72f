#include "engine/nn/block.h"

namespace deft::engine {

Block::Block(const Planner& plan, const BlockConfig& config)
    : recomputes_outputs_(plan.keeps && !plan.keeps_outputs),
      norm1_(plan, "ln_1", "ln1", config.width),
      attention_(plan, config.width, config.heads, config.causal),
      norm2_(plan, "ln_2", "ln2", config.width),
      feed_forward_(plan, config.width, config.hidden),
      mid_(plan.saved("mid", {plan.B, plan.T, config.width})),
      branch_(plan.scratch("branch", {plan.B, plan.T, config.width})) {
    if (!plan.trains()) return;
    d_branch_ = plan.scratch("d_branch", {plan.B, plan.T, config.width});
    d_rows_ = plan.scratch("d_rows", {plan.B, plan.T, config.width});
}

Tensor Block::forward_attention(Exec& exec, Tensor input, Tensor x, const StreamRows& rows) const {
    const std::int64_t B = x.dim(0), K = x.dim(1), C = x.dim(2);
    const Tensor branch = branch_.view({B, K, C});
    attention_.forward(exec, branch, x, rows);
    return norm2_.forward(exec, {input, branch}, mid_.view({B, K, C}));
}

Residual Block::forward(Exec& exec, const Residual& in, Tensor input, const BlockRows& kept,
                        const StreamRows& rows) const {
    const Tensor x = kept.index && kept.gathers ? norm1_.forward_rows(exec, input, in.rows, kept.index)
                                                : norm1_.forward(exec, in, input);
    const std::int64_t B = x.dim(0), K = x.dim(1), C = x.dim(2);
    const Tensor y = forward_attention(exec, input, x, rows);
    feed_forward_.forward(exec, branch_.view({B, K, C}), y);
    return {mid_.view({B, K, C}), branch_.view({B, K, C})};
}

void Block::recompute(Exec& exec, Tensor input, const StreamRows& rows) const {
    const Tensor x = norm1_.forward(exec, {input, {}}, {});
    feed_forward_.forward_hidden(exec, forward_attention(exec, input, x, rows));
}

void Block::backward(Exec& exec, Tensor d_stream, Tensor input, const BlockRows& kept, const StreamRows& rows,
                     Accumulate accumulate) const {
    const std::int64_t B = input.dim(0), K = input.dim(1), C = input.dim(2);
    const Tensor d_branch = d_branch_.view({B, K, C});
    // The gradient of the block's output, then of mid_.
    const Tensor d_rows = kept.index ? d_rows_.view({B, K, C}) : d_stream;
    if (kept.index && kept.scatters) gather_rows(exec, d_rows, d_stream, kept.index);
    if (recomputes_outputs_) {
        feed_forward_.recompute_activation(exec, norm2_.forward(exec, {mid_.view({B, K, C}), {}}, {}));
    }
    feed_forward_.backward(exec, d_branch, d_rows, norm2_.output(B, K), accumulate);
    norm2_.backward(exec, d_rows, {}, d_branch, d_rows, mid_.view({B, K, C}), accumulate);
    if (recomputes_outputs_) norm1_.forward(exec, {input, {}}, {});
    attention_.backward(exec, d_branch, d_rows, norm1_.output(B, K), rows, accumulate);
    const bool to_stream = kept.gathers || !kept.index;
    norm1_.backward(exec, to_stream ? d_stream : d_rows, to_stream ? kept.index : Tensor{}, d_branch, d_rows, input,
                    accumulate);
}

}  // namespace deft::engine
