#include "engine/io/huggingface_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "engine/io/huggingface_settings.h"

namespace deft::engine {

namespace {

constexpr std::int64_t kMostClasses = 1 << 17;
constexpr std::int64_t kMostForeignExperts = 1 << 14;  // of a layer

Activation activation_of(HuggingFaceSettings& settings, const std::string& key, const std::string& by_default) {
    const std::string name = settings.word_or(key, by_default);
    if (name == "gelu") return Activation::gelu_erf;
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
    settings.refuse(key, fmt::format("is \"{}\"", name),
                    "models of deft have gelu, gelu_new or gelu_pytorch_tanh there");
}

// Refuses settings that no model of deft supports, whatever the family.
void expect_plain(HuggingFaceSettings& settings) {
    for (const char* key : {"add_cross_attention", "is_decoder", "is_encoder_decoder"}) settings.expect(key, false);
    settings.expect("cross_attention_hidden_size", nullptr);
    if (settings.has("pruned_heads") && !settings.value("pruned_heads").empty())
        settings.refuse("pruned_heads", "names heads that were cut out", "choose a model with all of its heads");
}

void fill_blocks(TransformerConfig& config, std::int64_t layers, const BlockConfig& block) {
    config.blocks.assign(static_cast<std::size_t>(layers), block);
}

std::int64_t heads_of(HuggingFaceSettings& settings, const std::string& key, std::int64_t width) {
    const std::int64_t heads = settings.extent(key, kMostForeignExtent);
    if (width % heads != 0)
        settings.refuse(key, fmt::format("is {}, and must divide the width of {}", heads, width),
                        "take the config.json that belongs to the weights");
    return heads;
}

std::int64_t classes_of(HuggingFaceSettings& settings) {
    if (settings.has("id2label") && settings.value("id2label").is_object())
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(settings.value("id2label").size()), 1, kMostClasses);
    return settings.has("num_labels") ? settings.extent("num_labels", kMostClasses) : 2;
}

std::string architecture_of(HuggingFaceSettings& settings) {
    if (!settings.has("architectures")) return {};
    const Json& list = settings.value("architectures");
    return list.is_array() && !list.empty() && list[0].is_string() ? list[0].get<std::string>() : std::string();
}

TransformerConfig parse_gpt2(HuggingFaceSettings& settings) {
    expect_plain(settings);
    settings.expect("scale_attn_weights", true);
    settings.expect("scale_attn_by_inverse_layer_idx", false);
    const std::int64_t width = settings.extent("n_embd", kMostForeignExtent),
                       layers = settings.extent("n_layer", kMostForeignLayers);
    const std::int64_t heads = heads_of(settings, "n_head", width);
    TransformerConfig config = gpt2_config(layers, width, heads, settings.extent("n_positions", kMostForeignExtent),
                                           settings.extent("vocab_size", kMostForeignExtent));
    BlockConfig block = config.blocks[0];
    block.norm.eps = config.final_norm->eps = settings.number_or("layer_norm_epsilon", 1e-5, 1);
    block.feed_forward.hidden = settings.extent_or("n_inner", 4 * width, kMostForeignExtent);
    block.feed_forward.activation = activation_of(settings, "activation_function", "gelu_new");
    block.dropout = settings.dropout("resid_pdrop");
    block.attention.dropout = settings.dropout("attn_pdrop");
    config.input.dropout = settings.dropout("embd_pdrop");
    config.head->tied = settings.flag_or("tie_word_embeddings", true);
    fill_blocks(config, layers, block);
    return config;
}

// Extents that BERT, ViT and Llama spell alike.
struct CommonExtents {
    std::int64_t width, layers, heads, hidden;
};
CommonExtents common_extents(HuggingFaceSettings& settings) {
    const std::int64_t width = settings.extent("hidden_size", kMostForeignExtent);
    return {width, settings.extent("num_hidden_layers", kMostForeignLayers),
            heads_of(settings, "num_attention_heads", width), settings.extent("intermediate_size", kMostForeignExtent)};
}

// A block that sees all positions, of BERT and ViT.
BlockConfig encoder_block(HuggingFaceSettings& settings, const CommonExtents& extents) {
    BlockConfig block;
    block.norm.eps = settings.number_or("layer_norm_eps", 1e-12, 1);
    block.attention.heads = block.attention.kv_heads = extents.heads;
    block.attention.causal = false;
    block.attention.dropout = settings.dropout("attention_probs_dropout_prob");
    block.feed_forward.hidden = extents.hidden;
    block.feed_forward.activation = activation_of(settings, "hidden_act", "gelu");
    block.dropout = settings.dropout("hidden_dropout_prob");
    return block;
}

TransformerConfig parse_bert(HuggingFaceSettings& settings) {
    expect_plain(settings);
    settings.expect("position_embedding_type", "absolute");
    const CommonExtents extents = common_extents(settings);
    BlockConfig block = encoder_block(settings, extents);
    block.placement = NormPlacement::post;
    TransformerConfig config;
    config.width = extents.width;
    config.max_seqlen = settings.extent("max_position_embeddings", kMostForeignExtent);
    config.vocab = settings.extent("vocab_size", kMostForeignExtent);
    config.input.segments = settings.extent_or("type_vocab_size", 2, kMostForeignExtent);
    config.input.norm = block.norm;
    config.input.dropout = block.dropout;
    config.final_norm.reset();
    const bool is_tied = settings.flag_or("tie_word_embeddings", true);
    const std::string architecture = architecture_of(settings);
    config.class_head = ClassHeadConfig{.pooler = true};
    if (architecture == "BertForSequenceClassification") {
        config.head.reset();
        config.class_head->classes = classes_of(settings);
    } else {
        config.head = HeadConfig{.tied = is_tied, .bias = true};
        config.head->transform = {block.feed_forward.activation, block.norm};
        if (architecture == "BertForMaskedLM") config.class_head.reset();
    }
    fill_blocks(config, extents.layers, block);
    return config;
}

// One number, or of height and width.
std::pair<std::int64_t, std::int64_t> image_sides(HuggingFaceSettings& settings) {
    if (!settings.has("image_size") || settings.value("image_size").is_number()) {
        const std::int64_t side = settings.extent("image_size", kMostForeignExtent);
        return {side, side};
    }
    const Json& sides = settings.value("image_size");
    const auto is_side = [](const Json& side) {
        return side.is_number_integer() && side >= 1 && side <= kMostForeignExtent;
    };
    if (!sides.is_array() || sides.size() != 2 || !is_side(sides[0]) || !is_side(sides[1]))
        settings.refuse("image_size", fmt::format("is {}", HuggingFaceSettings::shown(sides)),
                        "it must be a number of pixels, or [height, width]");
    return {sides[0], sides[1]};
}

TransformerConfig parse_vit(HuggingFaceSettings& settings) {
    expect_plain(settings);
    settings.expect("qkv_bias", true);
    const CommonExtents extents = common_extents(settings);
    const BlockConfig block = encoder_block(settings, extents);
    const auto [height, width] = image_sides(settings);
    const std::int64_t size = settings.extent("patch_size", kMostForeignExtent);
    if (height % size != 0 || width % size != 0)
        settings.refuse("patch_size",
                        fmt::format("is {}, and must divide both sides of images of {} x {}", size, height, width),
                        "choose a model whose patches cover its images");
    TransformerConfig config;
    config.width = extents.width;
    config.vocab = 0;
    config.head.reset();
    config.input.patches = PatchConfig{height, width, settings.extent_or("num_channels", 3, kMostForeignExtent), size};
    config.max_seqlen = config.input.patches->seqlen();
    if (config.max_seqlen > kMostForeignExtent)
        settings.refuse("image_size",
                        fmt::format("makes {} patches, which is more than is read", config.max_seqlen - 1),
                        "take the config.json that belongs to the weights");
    config.input.dropout = block.dropout;
    config.final_norm = block.norm;
    config.class_head = ClassHeadConfig{.classes = classes_of(settings)};
    settings.has("tie_word_embeddings");  // of tokens
    fill_blocks(config, extents.layers, block);
    return config;
}

// The base of rotary positions, by the key of older files or the table of newer ones.
double rope_theta_of(HuggingFaceSettings& settings, double by_default) {
    settings.expect("rope_scaling", nullptr);
    settings.expect("partial_rotary_factor", 1.0);
    const double theta = settings.number_or("rope_theta", by_default, 1e12);
    if (!settings.has("rope_parameters")) return theta;
    const Json& table = settings.value("rope_parameters");
    if (!table.is_object())
        settings.refuse("rope_parameters", fmt::format("is {}", HuggingFaceSettings::shown(table)),
                        "it must be a table");
    HuggingFaceSettings inside(table, settings.file() + ": rope_parameters");
    inside.expect("rope_type", "default");
    inside.expect("type", "default");
    const double own = inside.number_or("rope_theta", theta, 1e12);
    inside.finish();
    return own;
}

// Defaults of a family where its config.json is silent.
struct LlamaDefaults {
    double eps, rope_theta;
    std::int64_t max_seqlen, kv_heads;  // 0: as many as heads
};

TransformerConfig llama_like(HuggingFaceSettings& settings, const LlamaDefaults& defaults) {
    expect_plain(settings);
    const CommonExtents extents = common_extents(settings);
    if (const std::string name = settings.word_or("hidden_act", "silu"); name != "silu" && name != "swish")
        settings.refuse("hidden_act", fmt::format("is \"{}\"", name), "a model of deft has silu there");
    BlockConfig block;
    block.norm = {NormKind::rms, settings.number_or("rms_norm_eps", defaults.eps, 1)};
    block.attention.heads = extents.heads;
    block.attention.kv_heads = settings.extent_or(
        "num_key_value_heads", defaults.kv_heads > 0 ? defaults.kv_heads : extents.heads, kMostForeignExtent);
    if (extents.heads % block.attention.kv_heads != 0)
        settings.refuse("num_key_value_heads",
                        fmt::format("is {}, and must divide the {} heads", block.attention.kv_heads, extents.heads),
                        "take the config.json that belongs to the weights");
    settings.expect("head_dim", extents.width / extents.heads);
    block.attention.bias = false;
    block.attention.rope_theta = rope_theta_of(settings, defaults.rope_theta);
    block.attention.dropout = settings.dropout("attention_dropout");
    block.feed_forward = {extents.hidden, Activation::swiglu, false};
    TransformerConfig config;
    config.width = extents.width;
    config.max_seqlen = settings.extent_or("max_position_embeddings", defaults.max_seqlen, kMostForeignExtent);
    config.vocab = settings.extent("vocab_size", kMostForeignExtent);
    config.input.positions = Positions::none;
    config.final_norm = block.norm;
    config.head->tied = settings.flag_or("tie_word_embeddings", false);
    fill_blocks(config, extents.layers, block);
    return config;
}

TransformerConfig parse_llama(HuggingFaceSettings& settings) {
    TransformerConfig config = llama_like(settings, {1e-6, 10000, 2048, 0});
    const bool attention_bias = settings.flag_or("attention_bias", false),
               mlp_bias = settings.flag_or("mlp_bias", false);
    for (BlockConfig& block : config.blocks) {
        block.attention.bias = attention_bias;
        block.feed_forward.bias = mlp_bias;
    }
    return config;
}

// Experts that drop nothing, whose weights are renormalised over those that a row takes, as ours are from two on.
TransformerConfig parse_mixtral(HuggingFaceSettings& settings) {
    TransformerConfig config = llama_like(settings, {1e-5, 1e6, 4096 * 32, 8});
    settings.expect("sliding_window", nullptr);
    for (const char* key : {"attention_bias", "mlp_bias"}) settings.expect(key, false);
    settings.has("output_router_logits");  // puts out more, and nothing else
    ExpertsConfig experts;
    experts.count = settings.extent_or("num_local_experts", 8, kMostForeignExperts);
    experts.top = settings.extent_or("num_experts_per_tok", 2, kMostForeignExperts);
    experts.capacity_factor = 0;
    if (experts.top > experts.count)
        settings.refuse("num_experts_per_tok", fmt::format("is {}, of {} experts", experts.top, experts.count),
                        "take the config.json that belongs to the weights");
    if (experts.top == 1)
        settings.refuse("num_experts_per_tok",
                        "is 1: a Mixtral weighs a single expert by 1, and a model of deft by its probability",
                        "choose a model whose rows take two experts or more");
    const bool is_off = settings.has("router_aux_loss_coef") && settings.value("router_aux_loss_coef") == 0;
    experts.aux_weight = is_off ? 0 : settings.number_or("router_aux_loss_coef", 0.001, 1e6);
    experts.jitter = settings.dropout("router_jitter_noise");
    for (BlockConfig& block : config.blocks) block.experts = experts;
    return config;
}

struct Family {
    const char* model_type;
    WeightNames names;
    TransformerConfig (*parse)(HuggingFaceSettings&);
};
constexpr Family kFamilies[] = {{"gpt2", WeightNames::gpt2, parse_gpt2},
                                {"bert", WeightNames::bert, parse_bert},
                                {"vit", WeightNames::vit, parse_vit},
                                {"llama", WeightNames::llama, parse_llama},
                                {"mixtral", WeightNames::mixtral, parse_mixtral}};

}  // namespace

HuggingFaceModel parse_huggingface_config(const Json& json, const std::filesystem::path& file) {
    if (!json.is_object() || !json.contains("model_type") || !json.at("model_type").is_string())
        throw Error(ErrorKind::io, fmt::format("{}: it has no model_type, a JSON text", file.string()),
                    "name a folder as Hugging Face's save_pretrained() leaves it", "everything");
    const auto type = json.at("model_type").get<std::string>();
    const auto* family =
        std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& f) { return type == f.model_type; });
    if (family == std::end(kFamilies))
        throw Error(ErrorKind::config,
                    fmt::format("{}: model_type is {}", file.string(), HuggingFaceSettings::shown(type)),
                    "deft reads gpt2, bert, vit, llama and mixtral", "everything");
    HuggingFaceSettings settings(json, file.string());
    HuggingFaceModel model{family->names, family->parse(settings)};
    settings.finish();
    return model;
}

}  // namespace deft::engine
