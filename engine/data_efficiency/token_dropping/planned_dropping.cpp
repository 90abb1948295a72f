#include "engine/data_efficiency/token_dropping/planned_dropping.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/core/workspace.h"

namespace deft::engine {

namespace {

void require_layers(const TokenDropping& dropping, std::int64_t layers) {
    std::int64_t before = -1;
    for (const std::int32_t layer : dropping.layers) {
        if (layer <= before || layer >= layers)
            throw Error(ErrorKind::config,
                        fmt::format("layer {}, which drops tokens, after layer {} of a model of {}", layer, before, layers),
                        "name layers from 0 upwards, each once");
        before = layer;
    }
    if (dropping.layers.empty()) throw Error(ErrorKind::config, "no layer drops tokens", "name at least one");
}

}  // namespace

PlannedDropping plan_dropping(Arena& arena, const TokenDropping& dropping, const TransformerConfig& model,
                              const Backend& backend, std::int64_t max_batch) {
    require_layers(dropping, model.layers());
    if (dropping.dropper->reads_tokens && model.input.patches)
        throw Error(ErrorKind::config, fmt::format("{} chooses by tokens, and images have none", dropping.dropper->name),
                    "use random_ltd");
    PlannedDropping planned;
    planned.keep_first = dropping.keep_first;
    planned.set_of_layer.assign(static_cast<std::size_t>(model.layers()), KeptTokens::kEveryToken);
    std::int32_t sets = 0;
    for (const std::int32_t layer : dropping.layers)
        planned.set_of_layer[static_cast<std::size_t>(layer)] = dropping.dropper->one_set ? 0 : sets++;
    if (dropping.dropper->one_set) sets = 1;
    planned.choice = dropping.dropper->plan(arena, dropping.layers, model.vocab, dropping.settings.get());
    planned.index = arena.add(Region::activations, "kept_index", DType::i32, {sets, max_batch, model.max_seqlen});
    arena.reserve_workspace(select_tokens_workspace(backend, model.max_seqlen));
    return planned;
}

KeptTokens kept_tokens(Exec& exec, const PlannedDropping& dropping, const StepPlan& plan, const MicroBatch& batch) {
    if (!plan.drops()) return {};
    const std::int64_t sets = dropping.index.dim(0), B = batch.draw.dim(0);
    const KeptTokens kept{dropping.index.view({sets, B, plan.kept}), dropping.set_of_layer};
    dropping.choice.select(exec, kept.index, dropping.keep_first, batch);
    return kept;
}

}  // namespace deft::engine
