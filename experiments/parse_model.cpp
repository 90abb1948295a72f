#include "experiments/parse_model.h"

#include <fmt/format.h>

#include "engine/data/bert/samples.h"
#include "experiments/config_fields.h"
#include "experiments/model_kinds.h"
#include "experiments/model_presets.h"
#include "kernels/attention.h"

namespace deft::experiments {

namespace {

// Touvron et al. 2023, section 2.2, for gated parts: two thirds of 4 x width, so that the part has as many weights.
std::int64_t default_hidden(const ModelConfig& model) {
    if (model.activation != "swiglu") return 4 * model.width;
    return (8 * model.width / 3 + 7) / 8 * 8;
}

void require_heads(const TableReader& table, const ModelConfig& model) {
    if (model.width % model.heads != 0)
        table.refuse("width",
                     fmt::format("is {} and must be a multiple of model.heads = {}", model.width, model.heads));
    if (model.heads % model.kv_heads != 0)
        table.refuse("kv_heads", fmt::format("is {} and must divide model.heads = {}", model.kv_heads, model.heads));
    if (model.positions == "rope" && model.width / model.heads % 2 != 0)
        table.refuse("positions",
                     fmt::format("is \"rope\", which turns pairs of values, and heads of {} have one over",
                                 model.width / model.heads),
                     "choose model.width and model.heads so that width / heads is even");
    using Dropout = kernels::AttentionDropout;
    if (model.attention_dropout > 0 && (model.heads > Dropout::kMostHeads || model.seqlen > Dropout::kMostKeys))
        table.refuse("attention_dropout",
                     fmt::format("is drawn for at most {} heads and {} tokens", Dropout::kMostHeads, Dropout::kMostKeys),
                     "set it to 0, or lower model.heads or model.seqlen");
}

// Masked samples are guessed from both sides, and packed ones from what stands before.
void require_samples(const TableReader& table, const ModelConfig& model, const DataConfig& data) {
    if (sample_kind(data) == SampleKind::bert) {
        const std::int64_t shortest = engine::SampleShape{.pairs = data.bert.pairs}.shortest_cut();
        table.require_at_least("seqlen", model.seqlen, shortest);
        if (model.causal)
            table.refuse("causal", "is true, and the masked tokens of data.samples = \"bert\" are guessed from both sides",
                         "set model.kind = \"bert\", or model.causal = false");
        if (model.segments == 1)
            table.refuse("segments", "is 1, and BERT's samples have two", "set it to 2, or to 0 for none");
        return;
    }
    if (!model.causal)
        table.refuse("causal",
                     "is false, and packed samples ask for the next token, which a model that attends to it need not guess",
                     "set model.causal = true, or data.samples = \"bert\"");
    if (model.segments > 0)
        table.refuse("segments", fmt::format("is {}, and packed samples have none", model.segments),
                     "set it to 0, or data.samples = \"bert\"");
}

// The preset's table; without one an empty table.
ConfigNode preset_of(TableReader& table) {
    std::string name;
    table.optional("preset", name);
    if (name.empty()) return {};
    table.require_one_of("preset", name, model_presets());
    return load_model_preset(name);
}

}  // namespace

ModelConfig parse_model(TableReader table, const DataConfig& data) {
    const ConfigNode preset = preset_of(table);
    TableReader by_preset(preset, "model");
    std::string kind = sample_kind(data) == SampleKind::bert ? "bert" : "gpt";
    by_preset.optional("kind", kind);
    table.optional("kind", kind);
    table.require_one_of("kind", kind, model_kinds());
    ModelConfig model = defaults_of_kind(kind);
    const bool has_pairs = sample_kind(data) == SampleKind::bert && data.bert.pairs;
    model.order_head = model.order_head && has_pairs;
    read_table(by_preset, model);
    read_table(table, model);
    if (model.kv_heads == 0) model.kv_heads = model.heads;
    if (model.hidden == 0) model.hidden = default_hidden(model);
    require_heads(table, model);
    if (model.positions != "rope" && model.rope_theta != ModelConfig{}.rope_theta)
        table.refuse("rope_theta", fmt::format("means nothing to positions = \"{}\"", model.positions),
                     "set model.positions = \"rope\", or drop the key");
    require_samples(table, model, data);
    if (model.order_head && !has_pairs)
        table.refuse("order_head", "needs samples of two segments, and these have one",
                     "set it to false, or data.samples = \"bert\" with data.bert.pairs = true");
    if (model.head_transform && model.activation == "swiglu")
        table.refuse("head_transform", "has no gate, and model.activation = \"swiglu\" needs one",
                     "set it to false, or another model.activation");
    return model;
}

}  // namespace deft::experiments
