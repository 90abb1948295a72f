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
            throw Error(
                ErrorKind::config,
                fmt::format("layer {}, which drops tokens, after layer {} of a model of {}", layer, before, layers),
                "name layers from 0 upwards, each once");
        before = layer;
    }
    if (dropping.layers.empty()) throw Error(ErrorKind::config, "no layer drops tokens", "name at least one");
}

// kept: the real tokens of each sample first, then padding, which packed samples have none of.
KeptTokens packed(Exec& exec, const PlannedDropping& dropping, const KeptTokens& kept, const MicroBatch& batch) {
    const std::int64_t sets = kept.index.dim(0), B = kept.index.dim(1), rows = batch.kept_start[B];
    KeptTokens packed{dropping.packed_index.view({sets, 1, rows}),
                      kept.set_of_layer,
                      dropping.packed_position.view({sets, 1, rows}),
                      {dropping.kept_start.view({B + 1}), kept.index.dim(2)}};
    write_tensor(exec, packed.packed.start, batch.kept_start);
    pack_kept_tokens(exec, packed.index, packed.position, kept.index, batch.packed, packed.packed);
    return packed;
}

}  // namespace

PlannedDropping plan_dropping(Arena& arena, const TokenDropping& dropping, const TransformerConfig& model,
                              const Backend& backend, std::int64_t max_batch) {
    require_layers(dropping, model.layers());
    if (dropping.dropper->reads_tokens && model.input.patches)
        throw Error(ErrorKind::config,
                    fmt::format("{} chooses by tokens, and images have none", dropping.dropper->name),
                    "use random_ltd");
    if (dropping.dropper->reads_tokens && !model.head)
        throw Error(
            ErrorKind::config,
            fmt::format("{} learns from the losses of tokens, and labelled texts have none", dropping.dropper->name),
            "use random_ltd");
    PlannedDropping planned;
    planned.keep_first = dropping.keep_first;
    planned.set_of_layer.assign(static_cast<std::size_t>(model.layers()), KeptTokens::kEveryToken);
    std::int32_t sets = 0;
    for (const std::int32_t layer : dropping.layers)
        planned.set_of_layer[static_cast<std::size_t>(layer)] = dropping.dropper->one_set ? 0 : sets++;
    if (dropping.dropper->one_set) sets = 1;
    planned.choice = dropping.dropper->plan(arena, dropping.layers, model.vocab, dropping.settings.get());
    const auto add = [&](const char* name) {
        return arena.add(Region::activations, name, DType::i32, {sets, max_batch, model.max_seqlen});
    };
    planned.index = add("kept_index");
    planned.packed_index = add("packed.kept_index");
    planned.packed_position = add("packed.kept_position");
    planned.kept_start =
        arena.add(Region::activations, "packed.kept_start", DType::i32, {max_batch * model.max_seqlen + 1});
    arena.reserve_workspace(select_tokens_workspace(backend, model.max_seqlen));
    return planned;
}

KeptTokens kept_tokens(Exec& exec, const PlannedDropping& dropping, const StepPlan& plan, const MicroBatch& batch) {
    if (!plan.drops()) return {};
    const std::int64_t sets = dropping.index.dim(0), B = batch.draw.dim(0);
    const KeptTokens kept{dropping.index.view({sets, B, plan.kept}), dropping.set_of_layer};
    dropping.choice.select(exec, kept.index, dropping.keep_first, batch);
    return batch.packed ? packed(exec, dropping, kept, batch) : kept;
}

}  // namespace deft::engine
