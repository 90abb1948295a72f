#include "engine/models/parts_json.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

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

}  // namespace

Json parts_json(const TransformerConfig& model) {
    const BlockConfig& block = model.blocks.front();
    const auto differs = [&](const BlockConfig& other) { return other != block; };
    if (std::any_of(model.blocks.begin(), model.blocks.end(), differs))
        throw std::logic_error("the parts of a model whose layers differ");
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
