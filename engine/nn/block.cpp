#include "engine/nn/block.h"

namespace deft::engine {

namespace {

Tensor rows_like(const Tensor& buffer, const Tensor& x) {
    return buffer.view({x.dim(0), x.dim(1), x.dim(2)});
}

}  // namespace

Block::Block(const Planner& plan, std::int64_t width, const BlockConfig& config, std::int64_t layer)
    : placement_(config.placement),
      dropout_(config.dropout),
      layer_(layer),
      recomputes_outputs_(plan.keeps && !plan.keeps_outputs),
      norm1_(plan, "ln_1", "ln1", width, config.norm),
      attention_(plan, width, config.attention, layer),
      norm2_(plan, "ln_2", "ln2", width, config.norm,
             config.placement == NormPlacement::post ? NormOutput::given : NormOutput::own),
      mid_(plan.saved("mid", {plan.B, plan.T, width})),
      branch_(plan.scratch("branch", {plan.B, plan.T, width})) {
    if (config.experts)
        experts_.emplace(plan, width, config.feed_forward, *config.experts);
    else
        feed_forward_.emplace(plan, width, config.feed_forward);
    if (placement_ == NormPlacement::post) end_ = plan.saved("end", {plan.B, plan.T, width});
    if (!plan.trains()) return;
    d_branch_ = plan.scratch("d_branch", {plan.B, plan.T, width});
    d_rows_ = plan.scratch("d_rows", {plan.B, plan.T, width});
}

Tensor Block::drop(Exec& exec, Tensor y, Tensor x, Half half, const BlockRows& kept, const StreamRows& rows) const {
    if (dropout_ == 0 || !rows.random.draw) return x;
    // Number 0 is the dropout of the model's input.
    const std::int64_t number = 1 + 2 * layer_ + (half == Half::feed_forward ? 1 : 0);
    dropout(exec, y, x, {},
            {rows.random.seed, rows.random.step, number, rows.random.draw, dropout_, starts_of(kept, rows)});
    return y;
}

Tensor Block::attend(Exec& exec, Tensor x, const BlockRows& kept, const StreamRows& rows) const {
    const Tensor branch = rows_like(branch_, x);
    attention_.forward(exec, branch, x, kept, rows);
    return drop(exec, branch, branch, Half::attention, kept, rows);
}

Tensor Block::feed_forward(Exec& exec, Tensor x, const BlockRows& kept, const StreamRows& rows) const {
    const Tensor branch = rows_like(branch_, x);
    if (experts_)
        experts_->forward(exec, branch, x, routing(x, kept, rows));
    else
        feed_forward_->forward(exec, branch, x);
    return drop(exec, branch, branch, Half::feed_forward, kept, rows);
}

RoutingRows Block::routing(const Tensor& x, const BlockRows& kept, const StreamRows& rows) const {
    RoutingRows routed{.B = x.dim(0), .K = x.dim(1), .packed = starts_of(kept, rows)};
    if (!routed.packed) routed.length = rows.length;
    routed.seed = rows.random.seed;
    routed.step = rows.random.step;
    routed.layer = layer_;
    routed.draw = rows.random.draw;
    return routed;
}

void Block::feed_forward_hidden(Exec& exec, Tensor x, const BlockRows& kept, const StreamRows& rows) const {
    if (experts_)
        experts_->forward_hidden(exec, x, routing(x, kept, rows));
    else
        feed_forward_->forward_hidden(exec, x);
}

void Block::recompute_activation(Exec& exec, Tensor x) const {
    experts_ ? experts_->recompute_activation(exec, x) : feed_forward_->recompute_activation(exec, x);
}

void Block::feed_forward_backward(Exec& exec, Tensor dx, Tensor dout, Tensor x, const BlockRows& kept,
                                  const StreamRows& rows, Accumulate accumulate) const {
    if (experts_)
        experts_->backward(exec, dx, dout, x, routing(x, kept, rows), rows.auxiliary_scale, accumulate);
    else
        feed_forward_->backward(exec, dx, dout, x, accumulate);
}

TrainingFlops Block::flops() const {
    return norm1_.flops() + attention_.flops() + norm2_.flops() +
           (experts_ ? experts_->flops() : feed_forward_->flops());
}

Residual Block::forward(Exec& exec, const Residual& in, Tensor input, Tensor output, const BlockRows& kept,
                        const StreamRows& rows) const {
    const bool gathers = kept.index && kept.gathers;
    if (placement_ == NormPlacement::pre) {
        const Tensor x =
            gathers ? norm1_.forward_rows(exec, input, in.rows, kept.index) : norm1_.forward(exec, in, input);
        const Tensor mid = rows_like(mid_, x);
        const Tensor y = norm2_.forward(exec, {input, attend(exec, x, kept, rows)}, mid);
        return {mid, feed_forward(exec, y, kept, rows)};
    }
    if (gathers)
        gather_rows(exec, input, in.rows, kept.index);
    else if (in.branch)
        residual_forward(exec, input, {}, in.rows, in.branch);
    if (!output) output = rows_like(d_branch_, input);
    forward_post(exec, output, input, kept, rows);
    return {output, {}};
}

void Block::forward_post(Exec& exec, Tensor output, Tensor input, const BlockRows& kept, const StreamRows& rows) const {
    const Tensor y = norm1_.forward(exec, {input, attend(exec, input, kept, rows)}, rows_like(mid_, input));
    norm2_.forward_to(exec, output, {y, feed_forward(exec, y, kept, rows)}, rows_like(end_, input));
}

void Block::recompute(Exec& exec, Tensor input, const BlockRows& kept, const StreamRows& rows) const {
    if (placement_ == NormPlacement::post) return forward_post(exec, rows_like(d_branch_, input), input, kept, rows);
    const Tensor x = norm1_.forward(exec, {input, {}}, {});
    const Tensor mid = rows_like(mid_, input);
    feed_forward_hidden(exec, norm2_.forward(exec, {input, attend(exec, x, kept, rows)}, mid), kept, rows);
}

void Block::backward(Exec& exec, Tensor d_stream, Tensor input, const BlockRows& kept, const StreamRows& rows,
                     Accumulate accumulate) const {
    const Tensor d_rows = kept.index ? rows_like(d_rows_, input) : d_stream;
    if (kept.index && kept.scatters) gather_rows(exec, d_rows, d_stream, kept.index);
    const bool to_stream = kept.gathers || !kept.index;
    const Tensor d_input = to_stream ? d_stream : d_rows, index = to_stream ? kept.index : Tensor{};
    placement_ == NormPlacement::pre ? backward_pre(exec, d_input, index, d_rows, input, kept, rows, accumulate)
                                     : backward_post(exec, d_input, index, d_rows, input, kept, rows, accumulate);
}

void Block::backward_pre(Exec& exec, Tensor d_input, Tensor index, Tensor d_rows, Tensor input, const BlockRows& kept,
                         const StreamRows& rows, Accumulate accumulate) const {
    const std::int64_t B = input.dim(0), K = input.dim(1);
    const Tensor d_branch = rows_like(d_branch_, input), mid = rows_like(mid_, input);
    if (recomputes_outputs_) recompute_activation(exec, norm2_.forward(exec, {mid, {}}, {}));
    const Tensor d_added = drop(exec, d_branch, d_rows, Half::feed_forward, kept, rows);
    feed_forward_backward(exec, d_branch, d_added, norm2_.output(B, K), kept, rows, accumulate);
    norm2_.backward(exec, d_rows, {}, d_branch, d_rows, mid, accumulate);
    if (recomputes_outputs_) norm1_.forward(exec, {input, {}}, {});
    const Tensor d_attended = drop(exec, rows_like(branch_, input), d_rows, Half::attention, kept, rows);
    attention_.backward(exec, d_branch, d_attended, norm1_.output(B, K), kept, rows, accumulate);
    norm1_.backward(exec, d_input, index, d_branch, d_rows, input, accumulate);
}

void Block::backward_post(Exec& exec, Tensor d_input, Tensor index, Tensor d_rows, Tensor input, const BlockRows& kept,
                          const StreamRows& rows, Accumulate accumulate) const {
    const std::int64_t B = input.dim(0), K = input.dim(1);
    const Tensor d_branch = rows_like(d_branch_, input), d_sum = rows_like(branch_, input);
    const Tensor mid = rows_like(mid_, input);
    if (recomputes_outputs_) recompute_activation(exec, norm1_.forward(exec, {mid, {}}, {}));
    norm2_.backward(exec, d_sum, {}, d_rows, {}, rows_like(end_, input), accumulate);
    const Tensor d_added = drop(exec, d_branch, d_sum, Half::feed_forward, kept, rows);
    feed_forward_backward(exec, d_branch, d_added, norm1_.output(B, K), kept, rows, accumulate);
    residual_forward(exec, d_rows, {}, d_branch, d_sum);
    norm1_.backward(exec, d_sum, {}, d_rows, {}, mid, accumulate);
    const Tensor d_attended = drop(exec, d_rows, d_sum, Half::attention, kept, rows);
    attention_.backward(exec, d_branch, d_attended, input, kept, rows, accumulate);
    residual_forward(exec, d_input, index, d_branch, d_sum);
}

}  // namespace deft::engine
