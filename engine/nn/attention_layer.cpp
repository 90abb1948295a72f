#include "engine/nn/attention_layer.h"

#include <stdexcept>

#include "engine/core/workspace.h"

namespace deft::engine {

AttentionLayer::AttentionLayer(const Planner& plan, std::int64_t width, const AttentionConfig& config,
                               std::int64_t layer)
    : width_(width),
      config_(config),
      layer_(layer),
      qkv_width_((config.heads + 2 * config.kv_heads) * config.head_size(width)),
      qkv_linear_(plan, "attn.c_attn", ParameterKind::matrix, width, qkv_width_, config.bias),
      output_(plan, "attn.c_proj", ParameterKind::residual, width, width, config.bias),
      qkv_(plan.saved("qkv", {plan.B, plan.T, qkv_width_})),
      attended_(plan.saved("att", {plan.B, plan.T, width})),
      lse_(plan.saved("lse", plan.sums(), {plan.B, config.heads, plan.T})),
      d_qkv_(plan.scratch("d_qkv", {plan.B, plan.T, qkv_width_})),
      d_attended_(plan.scratch("d_branch", {plan.B, plan.T, width})) {
    plan.arena.reserve_workspace(
        attention_workspace(plan.backend, plan.B, plan.T, config.heads, config.head_size(width)));
}

AttentionMask AttentionLayer::mask(const BlockRows& kept, const StreamRows& rows) const {
    AttentionMask mask{config_.causal, rows.length};
    mask.packed = starts_of(kept, rows);
    if (!rows.random.draw) return mask;
    mask.dropout = config_.dropout;
    mask.seed = rows.random.seed;
    mask.step = rows.random.step;
    mask.layer = static_cast<std::uint32_t>(layer_);
    mask.draw = rows.random.draw;
    return mask;
}

Tensor AttentionLayer::lse(const Tensor& out, const AttentionMask& mask) const {
    if (mask.packed) return lse_.view({mask.packed.samples(), config_.heads, mask.packed.longest});
    return lse_.view({out.dim(0), config_.heads, out.dim(1)});
}

// Queries and keys lie side by side in qkv (B, K, qkv_width), followed by values.
void AttentionLayer::turn(Exec& exec, Tensor qkv, Tensor position, RopeTurn turn) const {
    if (!config_.rope_theta) return;
    const Rope heads{0, config_.heads + config_.kv_heads, config_.head_size(width_), *config_.rope_theta, position};
    rope(exec, qkv, qkv, heads, turn);
}

void AttentionLayer::forward(Exec& exec, Tensor out, Tensor x, const BlockRows& kept, const StreamRows& rows) const {
    const std::int64_t B = x.dim(0), K = x.dim(1);
    const Tensor qkv = qkv_.view({B, K, qkv_width_}), attended = attended_.view({B, K, width_});
    qkv_linear_.forward(exec, qkv, x);
    turn(exec, qkv, position_of(kept, rows), RopeTurn::forward);
    if (rows.cache != nullptr)
        attend_cached(exec, attended, qkv, kept, rows);
    else
        rows.packed.source ? attend_shared(exec, attended, qkv, rows) : attend(exec, attended, qkv, kept, rows);
    output_.forward(exec, out, attended);
}

void AttentionLayer::attend(Exec& exec, Tensor out, Tensor qkv, const BlockRows& kept, const StreamRows& rows) const {
    const AttentionMask of_rows = mask(kept, rows);
    attention_forward(exec, out, lse(out, of_rows), heads_of(qkv), of_rows);
}

// out (1, M, C), qkv (1, M, qkv_width), of samples that share rows.
void AttentionLayer::attend_shared(Exec& exec, Tensor out, Tensor qkv, const StreamRows& rows) const {
    if (!config_.causal) throw std::logic_error("shared rows of a model that attends to later positions");
    const std::int64_t B = rows.B, T = rows.T;
    const Tensor at_positions = d_qkv_.view({B, T, qkv_width_}), attended = d_attended_.view({B, T, width_});
    gather_rows(exec, at_positions.view({1, B * T, qkv_width_}), qkv, rows.packed.source);
    const AttentionMask causal{true};
    attention_forward(exec, attended, lse(attended, causal), heads_of(at_positions), causal);
    gather_rows(exec, out, attended.view({1, B * T, width_}), rows.packed.computed);
}

// out (1, M, C), qkv (1, M, qkv_width), of rows that go on from a cache.
void AttentionLayer::attend_cached(Exec& exec, Tensor out, Tensor qkv, const BlockRows& kept,
                                   const StreamRows& rows) const {
    if (!config_.causal) throw std::logic_error("a cache of a model that attends to later positions");
    const KeyValueCache& cache = *rows.cache;
    const auto& [keys, values] = cache.layers.at(static_cast<std::size_t>(layer_));
    const std::int64_t M = out.dim(1), q_width = width_, kv_width = keys.columns();
    const bool begins = cache.held == 0;
    const Tensor of_samples = begins ? qkv : qkv.view({M, 1, qkv_width_});
    const Tensor position = begins ? Tensor{} : rows.packed.position.view({M});
    cache_rows(exec, keys, position, of_samples, q_width);
    cache_rows(exec, values, position, of_samples, q_width + kv_width);
    if (begins) return attend(exec, out, qkv, kept, rows);
    // The number of keys is read from memory, so that a recorded step serves all lengths.
    const Tensor row_of_each = out.view({M, 1, width_});
    const AttentionMask of_held{.causal = false, .length = cache.length};
    attention_forward(exec, row_of_each, lse(row_of_each, of_held),
                      {{of_samples, 0}, {keys, 0}, {values, 0}, config_.heads, config_.kv_heads}, of_held);
}

void AttentionLayer::backward(Exec& exec, Tensor dx, Tensor dout, Tensor x, const BlockRows& kept,
                              const StreamRows& rows, Accumulate accumulate) const {
    const std::int64_t B = x.dim(0), K = x.dim(1);
    const Tensor qkv = qkv_.view({B, K, qkv_width_}), attended = attended_.view({B, K, width_});
    const Tensor d_qkv = d_qkv_.view({B, K, qkv_width_}), d_attended = d_attended_.view({B, K, width_});
    output_.backward_weight(exec, dout, attended, accumulate);
    output_.backward_input(exec, d_attended, dout);
    const AttentionMask of_rows = mask(kept, rows);
    attention_backward(exec, heads_of(d_qkv), d_attended, attended, heads_of(qkv), lse(attended, of_rows), of_rows);
    turn(exec, d_qkv, position_of(kept, rows), RopeTurn::back);
    qkv_linear_.backward_weight(exec, d_qkv, x, accumulate);
    qkv_linear_.backward_input(exec, dx, d_qkv);
}

TrainingFlops AttentionLayer::flops() const {
    // Each pair of rows costs a product with the key and one with the value, and twice as many backward; a causal
    // row meets half of the others.
    const TrainingFlops pairs{0, (config_.causal ? 6.0 : 12.0) * static_cast<double>(width_)};
    return qkv_linear_.flops() + output_.flops() + pairs;
}

}  // namespace deft::engine
