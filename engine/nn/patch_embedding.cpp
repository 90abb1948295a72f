#include "engine/nn/patch_embedding.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/core/workspace.h"

namespace deft::engine {

namespace {

const PatchConfig& checked(const PatchConfig& c) {
    if (c.height < 1 || c.width < 1 || c.channels < 1 || c.size < 1 || c.height % c.size != 0 || c.width % c.size != 0)
        throw Error(ErrorKind::config,
                    fmt::format("images of {} x {} x {} cannot be cut into patches of {} x {}", c.height, c.width,
                                c.channels, c.size, c.size),
                    "choose a patch size that divides both sides of the image");
    return c;
}

}  // namespace

PatchEmbedding::PatchEmbedding(const Planner& plan, std::int64_t width, const PatchConfig& config, bool has_positions,
                               double dropout)
    : config_(checked(config)),
      dropout_(dropout),
      linear_(plan, "patch", ParameterKind::matrix, config.values(), width, true),
      class_token_(plan.weight("class_token.weight", ParameterKind::embedding, {1, width})),
      patches_(plan.saved("patches", {plan.B, config.patches(), config.values()})),
      embedded_(plan.scratch("d_branch", {plan.B, plan.T, width})) {
    if (has_positions) positions_ = plan.weight("wpe.weight", ParameterKind::embedding, {config.seqlen(), width});
}

void PatchEmbedding::forward(Exec& exec, Tensor out, Tensor images, const StreamRows& rows) const {
    const std::int64_t B = out.dim(0), K = config_.patches();
    const Tensor patches = patches_.view({B, K, config_.values()}), embedded = embedded_.view({B, K, out.dim(2)});
    patchify(exec, patches, images, config_.size, 1, 0);
    linear_.forward(exec, embedded, patches);
    class_token_forward(exec, out, class_token_.compute, embedded, positions_.compute);
    drop_input(exec, out, rows, dropout_);
}

void PatchEmbedding::backward(Exec& exec, Tensor dout, const StreamRows& rows, Accumulate accumulate) const {
    const std::int64_t B = dout.dim(0), K = config_.patches();
    const Tensor d_embedded = embedded_.view({B, K, dout.dim(2)});
    drop_input(exec, dout, rows, dropout_);
    class_token_backward(exec, class_token_.grad, d_embedded, positions_.grad, dout, accumulate);
    linear_.backward_weight(exec, d_embedded, patches_.view({B, K, config_.values()}), accumulate);
}

TrainingFlops PatchEmbedding::flops() const {
    return {0, 0, static_cast<double>(config_.patches()) * linear_.flops().per_row};
}

}  // namespace deft::engine
