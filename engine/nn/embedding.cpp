#include "engine/nn/embedding.h"

#include <array>

#include "engine/core/workspace.h"

namespace deft::engine {

Embedding::Embedding(const Planner& plan, std::int64_t vocab, std::int64_t max_seqlen, std::int64_t width)
    : tokens_(plan.weight("wte.weight", ParameterKind::embedding, {vocab, width})),
      positions_(plan.weight("wpe.weight", ParameterKind::embedding, {max_seqlen, width})) {
    plan.arena.reserve_workspace(embedding_workspace(plan.backend, plan.B, plan.T));
}

void Embedding::forward(Exec& exec, Tensor out, Tensor token) const {
    embedding_forward(exec, out, std::array<EmbeddingSource, 2>{{{tokens_.compute, token}, {positions_.compute, {}}}});
}

void Embedding::backward(Exec& exec, Tensor dout, Tensor token, Accumulate of_tokens, Accumulate of_positions) const {
    const std::array<EmbeddingSource, 2> gradients = {
        {{tokens_.grad, token, of_tokens}, {positions_.grad, {}, of_positions}}};
    embedding_backward(exec, gradients, dout);
}

}  // namespace deft::engine
