#include "engine/models/parts_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/json.h"

namespace deft::engine {

namespace {

const char* activation_name(Activation activation) {
    switch (activation) {
        case Activation::none:
            return "none";
        case Activation::gelu_tanh:
            return "gelu_tanh";
        case Activation::gelu_erf:
            return "gelu_erf";
        case Activation::tanh:
            return "tanh";
        case Activation::swiglu:
            break;
    }
    return "swiglu";
}

Json norm_json(const std::optional<NormSpec>& norm) {
    if (!norm) return nullptr;
    return {{"kind", norm->kind == NormKind::rms ? "rms" : "layer"}, {"eps", norm->eps}};
}

Activation activation_of(const Json& name) {
    for (const Activation activation :
         {Activation::none, Activation::gelu_tanh, Activation::gelu_erf, Activation::tanh})
        if (name == activation_name(activation)) return activation;
    if (name != "swiglu") throw Error(ErrorKind::config, fmt::format("no activation is called {}", name.dump()));
    return Activation::swiglu;
}

std::optional<NormSpec> norm_of(const Json& json) {
    if (json.is_null()) return {};
    return NormSpec{json.at("kind") == "rms" ? NormKind::rms : NormKind::layer, json.at("eps")};
}

// An extent that parts_json() may write: small enough that no product of two overflows.
std::int64_t extent_of(const Json& parts, const char* key, std::int64_t least = 1) {
    const auto extent = parts.at(key).get<std::int64_t>();
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    if (extent < least || extent > kMost)
        throw Error(ErrorKind::config, fmt::format("a model's {} cannot be {}", key, extent));
    return extent;
}

// The settings of experts that decide their weights, or null.
Json experts_json(const std::optional<ExpertsConfig>& experts) {
    if (!experts) return nullptr;
    return {{"count", experts->count}, {"top", experts->top}, {"residual", experts->residual}};
}

bool has_experts(const TransformerConfig& model) {
    return std::any_of(model.blocks.begin(), model.blocks.end(),
                       [](const BlockConfig& block) { return block.experts.has_value(); });
}

BlockConfig block_of_parts(const Json& parts) {
    BlockConfig block;
    block.placement = parts.at("placement") == "post" ? NormPlacement::post : NormPlacement::pre;
    block.norm = norm_of(parts.at("norm")).value_or(NormSpec{});
    block.attention.heads = extent_of(parts, "heads");
    block.attention.kv_heads = extent_of(parts, "kv_heads");
    block.attention.causal = parts.at("causal");
    block.attention.bias = parts.at("attention_bias");
    if (parts.contains("rope_theta")) block.attention.rope_theta = parts.at("rope_theta").get<double>();
    block.feed_forward.hidden = extent_of(parts, "hidden");
    block.feed_forward.activation = activation_of(parts.at("activation"));
    block.feed_forward.bias = parts.at("feed_forward_bias");
    return block;
}

// One entry a layer.
void add_experts(const Json& parts, TransformerConfig& model) {
    if (!parts.contains("experts")) return;
    const Json& layers = parts.at("experts");
    if (layers.size() != model.blocks.size())
        throw Error(ErrorKind::config,
                    fmt::format("experts of {} layers in a model of {}", layers.size(), model.blocks.size()));
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].is_null()) continue;
        ExpertsConfig experts;
        experts.count = extent_of(layers[i], "count");
        experts.top = extent_of(layers[i], "top");
        experts.residual = layers[i].at("residual");
        if (experts.top > experts.count)
            throw Error(ErrorKind::config, fmt::format("rows that take {} of {} experts", experts.top, experts.count));
        model.blocks[i].experts = experts;
    }
}

void add_heads(const Json& parts, TransformerConfig& model) {
    model.head.reset();
    if (parts.contains("tied_head")) {
        model.head = HeadConfig{.tied = parts.at("tied_head"), .bias = parts.at("head_bias")};
        if (parts.contains("head_activation"))
            model.head->transform = {activation_of(parts.at("head_activation")),
                                     norm_of(parts.at("head_norm")).value_or(NormSpec{})};
    }
    if (parts.contains("classes"))
        model.class_head = ClassHeadConfig{.classes = extent_of(parts, "classes"),
                                           .pooling = parts.at("pooling") == "mean" ? Pooling::mean : Pooling::first,
                                           .pooler = parts.at("pooler")};
}

}  // namespace

TransformerConfig model_of_parts(const Json& parts) {
    try {
        TransformerConfig model;
        model.width = extent_of(parts, "width");
        model.vocab = extent_of(parts, "vocab", 0);
        model.max_seqlen = extent_of(parts, "max_seqlen");
        model.input.positions = parts.at("learned_positions").get<bool>() ? Positions::learned : Positions::none;
        model.input.segments = extent_of(parts, "segments", 0);
        model.input.norm = norm_of(parts.at("input_norm"));
        model.final_norm = norm_of(parts.at("final_norm"));
        if (parts.contains("patches")) {
            const Json& images = parts.at("patches");
            model.input.patches = PatchConfig{extent_of(images, "height"), extent_of(images, "width"),
                                              extent_of(images, "channels"), extent_of(images, "size")};
        }
        model.blocks.assign(static_cast<std::size_t>(std::min<std::int64_t>(extent_of(parts, "layers"), 1 << 16)),
                            block_of_parts(parts));
        add_experts(parts, model);
        add_heads(parts, model);
        return model;
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::config, fmt::format("these are no parts of a model: {}", error.what()));
    }
}

std::vector<std::string> part_differences(const Json& parts, const Json& others) {
    std::set<std::string> keys;
    for (const Json* side : {&parts, &others})
        for (const auto& entry : side->items()) keys.insert(entry.key());
    const auto shown = [](const Json& side, const std::string& key) {
        return side.contains(key) ? side.at(key).dump() : std::string("absent");
    };
    std::vector<std::string> differences;
    for (const std::string& key : keys)
        if (shown(parts, key) != shown(others, key))
            differences.push_back(fmt::format("{} is {}, and {} there", key, shown(parts, key), shown(others, key)));
    return differences;
}

bool has_parts(const TransformerConfig& model) {
    const auto without_experts = [](BlockConfig block) {
        block.experts.reset();
        return block;
    };
    const BlockConfig first = without_experts(model.blocks.front());
    return std::all_of(model.blocks.begin(), model.blocks.end(),
                       [&](const BlockConfig& block) { return without_experts(block) == first; });
}

Json parts_json(const TransformerConfig& model) {
    if (!has_parts(model)) throw std::logic_error("the parts of a model whose layers differ");
    const BlockConfig& block = model.blocks.front();
    Json json = {{"layers", model.layers()},
                 {"width", model.width},
                 {"vocab", model.vocab},
                 {"max_seqlen", model.max_seqlen},
                 {"learned_positions", model.input.positions == Positions::learned},
                 {"segments", model.input.segments},
                 {"input_norm", norm_json(model.input.norm)},
                 {"placement", block.placement == NormPlacement::post ? "post" : "pre"},
                 {"norm", norm_json(block.norm)},
                 {"final_norm", norm_json(model.final_norm)},
                 {"heads", block.attention.heads},
                 {"kv_heads", block.attention.kv_heads},
                 {"causal", block.attention.causal},
                 {"attention_bias", block.attention.bias},
                 {"hidden", block.feed_forward.hidden},
                 {"activation", activation_name(block.feed_forward.activation)},
                 {"feed_forward_bias", block.feed_forward.bias}};
    if (block.attention.rope_theta) json["rope_theta"] = *block.attention.rope_theta;
    if (has_experts(model))
        for (const BlockConfig& layer : model.blocks) json["experts"].push_back(experts_json(layer.experts));
    if (const auto& images = model.input.patches)
        json["patches"] = {{"height", images->height},
                           {"width", images->width},
                           {"channels", images->channels},
                           {"size", images->size}};
    if (model.head) {
        json["tied_head"] = model.head->tied;
        json["head_bias"] = model.head->bias;
        if (model.head->transform) {
            json["head_activation"] = activation_name(model.head->transform->activation);
            json["head_norm"] = norm_json(model.head->transform->norm);
        }
    }
    if (model.class_head) {
        json["classes"] = model.class_head->classes;
        json["pooling"] = model.class_head->pooling == Pooling::mean ? "mean" : "first";
        json["pooler"] = model.class_head->pooler;
        if (model.class_head->value) json["value"] = true;
    }
    return json;
}

}  // namespace deft::engine
