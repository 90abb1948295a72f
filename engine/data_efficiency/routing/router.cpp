#include "engine/data_efficiency/routing/router.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/core/workspace.h"

namespace deft::engine {

namespace {

void require_layers(const Routing& routing, std::int64_t layers) {
    std::int64_t before = -1;
    for (const std::int32_t layer : routing.layers) {
        if (layer <= before || layer >= layers)
            throw Error(ErrorKind::config,
                        fmt::format("routed layer {} after layer {} of a model of {}", layer, before, layers),
                        "name layers from 0 upwards, each once");
        before = layer;
    }
    if (routing.layers.empty()) throw Error(ErrorKind::config, "no layer is routed", "name at least one");
}

}  // namespace

Router plan_router(Arena& arena, const Routing& routing, const TransformerConfig& model, const Backend& backend,
                   std::int64_t max_batch) {
    require_layers(routing, model.layers);
    arena.reserve_workspace(select_tokens_workspace(backend, model.max_seqlen));
    const auto routed = static_cast<std::int64_t>(routing.layers.size());
    Router router;
    router.keep_first = routing.keep_first;
    router.set_of_layer.assign(static_cast<std::size_t>(model.layers), KeptTokens::kEveryToken);
    std::int32_t sets = 0;
    if (const auto* bypass = std::get_if<TokenBypass>(&routing.method)) {
        for (const std::int32_t layer : routing.layers) router.set_of_layer[static_cast<std::size_t>(layer)] = 0;
        sets = 1;
        router.method = plan_token_bypass(arena, bypass->decay, bypass->special_tokens, model.vocab);
    } else {
        for (const std::int32_t layer : routing.layers) router.set_of_layer[static_cast<std::size_t>(layer)] = sets++;
        router.method =
            RandomLtdRouter{routing.layers, arena.add(Region::activations, "routed_layer", DType::i32, {routed})};
    }
    router.index = arena.add(Region::activations, "kept_index", DType::i32, {sets, max_batch, model.max_seqlen});
    return router;
}

void start_router(Exec& exec, const Router& router) {
    std::visit([&](const auto& method) { method.start(exec); }, router.method);
}

KeptTokens route(Exec& exec, const Router& router, const StepPlan& plan, const MicroBatch& batch) {
    if (!plan.drops()) return {};
    const KeptTokens kept{router.index.view({router.index.dim(0), batch.token.dim(0), plan.kept}), router.set_of_layer};
    std::visit([&](const auto& method) { method.select(exec, kept.index, router.keep_first, batch); }, router.method);
    return kept;
}

void observe_losses(Exec& exec, const Router& router, Tensor target, Tensor loss, Accumulate accumulate) {
    std::visit([&](const auto& method) { method.observe(exec, target, loss, accumulate); }, router.method);
}

void finish_step(Exec& exec, const Router& router, Tensor grad_norm, Tensor total_loss) {
    std::visit([&](const auto& method) { method.finish_step(exec, grad_norm, total_loss); }, router.method);
}

Tensor router_state(const Router& router) {
    return std::visit([](const auto& method) { return method.state(); }, router.method);
}

}  // namespace deft::engine
