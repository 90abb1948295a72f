#include "engine/nn/embedding.h"

#include "engine/core/workspace.h"

namespace deft::engine {

Embedding::Embedding(const Planner& plan, std::int64_t vocab, std::int64_t max_seqlen, std::int64_t width,
                     const InputConfig& config)
    : config_(config), tokens_(plan.vocabulary_weight("wte.weight", vocab, width)) {
    if (config.positions == Positions::learned)
        positions_ = plan.weight("wpe.weight", ParameterKind::embedding, {max_seqlen, width});
    if (config.segments > 0) segments_ = plan.weight("wse.weight", ParameterKind::embedding, {config.segments, width});
    if (config.norm) {
        norm_.emplace(plan, "ln_e", "embedded", width, *config.norm, NormOutput::given);
        sum_ = plan.saved("embedded_sum", {plan.B, plan.T, width});
        if (plan.trains()) d_sum_ = plan.scratch("d_branch", {plan.B, plan.T, width});
    }
    plan.arena.reserve_workspace(embedding_workspace(plan.backend, plan.B, plan.T, width));
}

template <class WeightOf>
Embedding::Sources Embedding::sources(const EmbeddingIds& ids, Accumulate of_tokens, Accumulate accumulate,
                                      const WeightOf& weight_of) const {
    Sources tables;
    const auto add = [&](const Parameter& table, const Tensor& id, Accumulate to) {
        if (table.value) tables.source[tables.count++] = {weight_of(table), id, to};
    };
    add(tokens_, ids.token, of_tokens);
    add(positions_, ids.position, accumulate);
    add(segments_, ids.segment, accumulate);
    return tables;
}

void Embedding::forward(Exec& exec, Tensor out, const EmbeddingIds& ids, const StreamRows& rows) const {
    const auto tables = sources(ids, Accumulate::no, Accumulate::no, [](const Parameter& p) { return p.compute; });
    const Tensor sum = norm_ ? sum_.view({out.dim(0), out.dim(1), out.dim(2)}) : out;
    embedding_forward(exec, sum, tables);
    if (norm_) norm_->forward_to(exec, out, {sum, {}}, {});
    drop_input(exec, out, rows, config_.dropout);
}

void Embedding::backward(Exec& exec, Tensor dout, const EmbeddingIds& ids, const StreamRows& rows, Accumulate of_tokens,
                         Accumulate accumulate) const {
    const std::int64_t B = dout.dim(0), T = dout.dim(1), C = dout.dim(2);
    drop_input(exec, dout, rows, config_.dropout);
    if (norm_) norm_->backward(exec, d_sum_.view({B, T, C}), {}, dout, {}, sum_.view({B, T, C}), accumulate);
    embedding_backward(exec, sources(ids, of_tokens, accumulate, [](const Parameter& p) { return p.grad; }),
                       norm_ ? d_sum_.view({B, T, C}) : dout);
}

}  // namespace deft::engine
