#include "experiments/model_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/json.h"
#include "engine/models/parts_json.h"

namespace deft::experiments {

namespace {

// Devlin et al. 2019, section 3 and appendix A.2.
ModelConfig bert_defaults() {
    ModelConfig model;
    model.segments = 2;
    model.input_norm = true;
    model.norm_eps = 1e-12;
    model.norm_placement = engine::NormPlacement::post;
    model.causal = false;
    model.activation = kernels::Activation::gelu_erf;
    model.head_bias = model.head_transform = model.order_head = true;
    model.dropout = model.attention_dropout = model.input_dropout = 0.1;
    return model;
}

// Touvron et al. 2023 (arXiv 2302.13971), section 2.2.
ModelConfig llama_defaults() {
    ModelConfig model;
    model.positions = PositionEncoding::rope;
    model.norm = kernels::NormKind::rms;
    model.attention_bias = model.feed_forward_bias = false;
    model.activation = kernels::Activation::swiglu;
    model.tied_head = false;
    return model;
}

// Dosovitskiy et al. 2021, section 3.1; the norms' eps is the released code's.
ModelConfig vit_defaults() {
    ModelConfig model;
    model.patch = 4;
    model.norm_eps = 1e-6;
    model.causal = false;
    model.activation = kernels::Activation::gelu_erf;
    return model;
}

void add_experts(const ExpertLayersConfig& experts, std::vector<engine::BlockConfig>& blocks) {
    for (std::size_t i = 0; i < experts.layers.size(); ++i)
        blocks.at(static_cast<std::size_t>(experts.layers[i])).experts =
            engine::ExpertsConfig{.count = experts.count.at(i),
                                  .top = experts.top,
                                  .capacity_factor = experts.capacity_factor,
                                  .min_capacity = experts.min_capacity,
                                  .random_token_selection = experts.random_token_selection,
                                  .jitter = experts.jitter,
                                  .sampled_noise = experts.sampled_noise,
                                  .aux_weight = experts.aux_weight,
                                  .z_weight = experts.z_weight,
                                  .residual = experts.residual};
}

struct ModelKind {
    const char* name;
    ModelConfig (*defaults)();
    SampleKind samples;                     // in pretraining
    std::vector<SampleKind> is_default_of;  // where no kind is named
};

const std::vector<ModelKind>& kinds() {
    using enum engine::SampleKind;
    static const std::vector<ModelKind> kinds = {
        {"gpt", [] { return ModelConfig{}; }, packed, {packed}},
        {"bert", bert_defaults, bert, {bert, labelled}},
        {"llama", llama_defaults, packed, {}},
        {"vit", vit_defaults, images, {images}},
    };
    return kinds;
}

const ModelKind& find_kind(const std::string& name) {
    for (const ModelKind& kind : kinds())
        if (kind.name == name) return kind;
    throw std::logic_error("unknown kind of model: " + name);
}

}  // namespace

std::vector<std::string> model_kinds() {
    std::vector<std::string> names;
    for (const ModelKind& kind : kinds()) names.emplace_back(kind.name);
    return names;
}

ModelConfig defaults_of_kind(const std::string& name) {
    ModelConfig model = find_kind(name).defaults();
    model.kind = name;
    return model;
}

SampleKind samples_of_kind(const std::string& name) {
    return find_kind(name).samples;
}

std::string kind_for(SampleKind samples) {
    for (const ModelKind& kind : kinds())
        if (std::ranges::count(kind.is_default_of, samples) > 0) return kind.name;
    throw std::logic_error("samples without a kind of model");
}

engine::TransformerConfig transformer_config(const ModelConfig& model, std::int64_t vocab) {
    const kernels::NormSpec norm{model.norm, model.norm_eps};
    engine::BlockConfig block;
    block.placement = model.norm_placement;
    block.norm = norm;
    block.attention.heads = model.heads;
    block.attention.kv_heads = model.kv_heads;
    block.attention.causal = model.causal;
    block.attention.bias = model.attention_bias;
    block.attention.dropout = model.attention_dropout;
    if (model.positions == PositionEncoding::rope) block.attention.rope_theta = model.rope_theta;
    block.feed_forward.hidden = model.hidden;
    block.feed_forward.bias = model.feed_forward_bias;
    block.feed_forward.activation = model.activation;
    block.dropout = model.dropout;

    engine::TransformerConfig config;
    config.width = model.width;
    config.max_seqlen = model.seqlen;
    config.vocab = vocab;
    config.init_std = model.init_std;
    config.input.positions =
        model.positions == PositionEncoding::learned ? engine::Positions::learned : engine::Positions::none;
    config.input.segments = model.segments;
    if (model.input_norm) config.input.norm = norm;
    config.input.dropout = model.input_dropout;
    config.blocks.assign(static_cast<std::size_t>(model.layers), block);
    add_experts(model.experts, config.blocks);
    config.final_norm = model.norm_placement == engine::NormPlacement::post ? std::nullopt : std::optional(norm);
    if (model.patch > 0) {
        config.vocab = 0;
        config.input.patches = {model.image_height, model.image_width, model.image_channels, model.patch};
        config.head.reset();
        config.class_head = {.classes = model.classes, .pooling = model.pooling};
        return config;
    }
    if (model.classes > 0 || model.value_head) {
        config.head.reset();
        config.class_head = {.classes = model.value_head ? 1 : model.classes,
                             .pooler = true,
                             .value = model.value_head,
                             .dropout = model.head_dropout};
        return config;
    }
    config.head = engine::HeadConfig{.tied = model.tied_head, .bias = model.head_bias};
    if (model.head_transform) config.head->transform = {block.feed_forward.activation, norm};
    // Two orders: engine::kInOrder, engine::kSwapped.
    if (model.order_head) config.class_head = {.classes = 2, .pooler = true};
    return config;
}

namespace {

const char* kind_of(const engine::TransformerConfig& config) {
    if (config.input.patches) return "vit";
    if (!config.is_causal()) return "bert";
    return config.blocks.front().norm.kind == kernels::NormKind::rms ? "llama" : "gpt";
}

void take_experts_of(const engine::TransformerConfig& config, ExpertLayersConfig& experts) {
    for (std::int64_t layer = 0; layer < config.layers(); ++layer) {
        const auto& own = config.blocks[static_cast<std::size_t>(layer)].experts;
        if (!own) continue;
        experts.layers.push_back(layer);
        experts.count.push_back(own->count);
        experts.top = own->top;
        experts.capacity_factor = own->capacity_factor;
        experts.min_capacity = own->min_capacity;
        experts.random_token_selection = own->random_token_selection;
        experts.jitter = own->jitter;
        experts.sampled_noise = own->sampled_noise;
        experts.aux_weight = own->aux_weight;
        experts.z_weight = own->z_weight;
        experts.residual = own->residual;
    }
}

void take_heads_of(const engine::TransformerConfig& config, ModelConfig& model) {
    if (config.head) {
        model.tied_head = config.head->tied;
        model.head_bias = config.head->bias;
        model.head_transform = config.head->transform.has_value();
        model.order_head = config.class_head.has_value();
        return;
    }
    if (!config.class_head) return;
    model.value_head = config.class_head->value;
    model.classes = model.value_head ? 0 : config.class_head->classes;
    model.head_dropout = config.class_head->dropout;
    model.pooling = config.class_head->pooling;
}

}  // namespace

ModelConfig model_config(const engine::TransformerConfig& config) {
    const engine::BlockConfig& block = config.blocks.front();
    ModelConfig model;
    model.kind = kind_of(config);
    model.layers = config.layers();
    model.width = config.width;
    model.seqlen = config.max_seqlen;
    model.init_std = config.init_std;
    model.positions = block.attention.rope_theta                             ? PositionEncoding::rope
                      : config.input.positions == engine::Positions::learned ? PositionEncoding::learned
                                                                             : PositionEncoding::none;
    model.rope_theta = block.attention.rope_theta.value_or(model.rope_theta);
    model.segments = config.input.segments;
    model.input_norm = config.input.norm.has_value();
    model.norm = block.norm.kind;
    model.norm_eps = block.norm.eps;
    model.norm_placement = block.placement;
    model.heads = block.attention.heads;
    model.kv_heads = block.attention.kv_heads;
    model.causal = block.attention.causal;
    model.attention_bias = block.attention.bias;
    model.hidden = block.feed_forward.hidden;
    if (has_name(block.feed_forward.activation)) model.activation = block.feed_forward.activation;
    model.feed_forward_bias = block.feed_forward.bias;
    model.dropout = block.dropout;
    model.attention_dropout = block.attention.dropout;
    model.input_dropout = config.input.dropout;
    if (const auto& patches = config.input.patches) {
        model.patch = patches->size;
        model.image_height = patches->height;
        model.image_width = patches->width;
        model.image_channels = patches->channels;
    }
    take_experts_of(config, model.experts);
    take_heads_of(config, model);
    const std::vector<std::string> differences = engine::part_differences(
        engine::parts_json(transformer_config(model, config.vocab)), engine::parts_json(config));
    if (!differences.empty())
        throw Error(ErrorKind::config,
                    fmt::format("[model] has no words for a model whose {}", fmt::join(differences, "; whose ")));
    return model;
}

}  // namespace deft::experiments
