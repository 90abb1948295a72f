// The other way: what config.json says of a model of ours, if Hugging Face has such a one.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "engine/io/huggingface_config.h"
#include "engine/models/parts_json.h"

namespace deft::engine {

namespace {

const char* activation_word(Activation activation) {
    return activation == Activation::gelu_tanh ? "gelu_new" : "gelu";
}

Json labels_json(std::int64_t classes) {
    Json labels = Json::object(), numbers = Json::object();
    for (std::int64_t i = 0; i < classes; ++i) {
        labels[std::to_string(i)] = fmt::format("LABEL_{}", i);
        numbers[fmt::format("LABEL_{}", i)] = i;
    }
    return {{"id2label", labels}, {"label2id", numbers}};
}

Json gpt2_json(const TransformerConfig& c) {
    const BlockConfig& block = c.blocks[0];
    Json json = {{"architectures", {"GPT2LMHeadModel"}},
                 {"model_type", "gpt2"},
                 {"n_embd", c.width},
                 {"n_layer", c.layers()},
                 {"n_head", c.heads()},
                 {"n_positions", c.max_seqlen},
                 {"vocab_size", c.vocab},
                 {"layer_norm_epsilon", block.norm.eps},
                 {"activation_function", activation_word(block.feed_forward.activation)},
                 {"resid_pdrop", block.dropout},
                 {"attn_pdrop", block.attention.dropout},
                 {"embd_pdrop", c.input.dropout}};
    if (block.feed_forward.hidden != 4 * c.width) json["n_inner"] = block.feed_forward.hidden;
    if (c.head && !c.head->tied) json["tie_word_embeddings"] = false;
    return json;
}

Json encoder_json(const TransformerConfig& c, const char* model_type, const char* architecture) {
    const BlockConfig& block = c.blocks[0];
    return {{"architectures", {architecture}},
            {"model_type", model_type},
            {"hidden_size", c.width},
            {"num_hidden_layers", c.layers()},
            {"num_attention_heads", c.heads()},
            {"intermediate_size", block.feed_forward.hidden},
            {"hidden_act", activation_word(block.feed_forward.activation)},
            {"layer_norm_eps", block.norm.eps},
            {"hidden_dropout_prob", block.dropout},
            {"attention_probs_dropout_prob", block.attention.dropout},
            {"initializer_range", c.init_std}};
}

Json bert_json(const TransformerConfig& c) {
    const char* architecture = !c.head         ? "BertForSequenceClassification"
                               : !c.class_head ? "BertForMaskedLM"
                                               : "BertForPreTraining";
    Json json = encoder_json(c, "bert", architecture);
    json["max_position_embeddings"] = c.max_seqlen;
    json["vocab_size"] = c.vocab;
    json["type_vocab_size"] = std::max<std::int64_t>(1, c.input.segments);
    json["position_embedding_type"] = "absolute";
    if (c.head && !c.head->tied) json["tie_word_embeddings"] = false;
    if (!c.head && c.class_head) json.update(labels_json(c.class_head->classes));
    return json;
}

Json vit_json(const TransformerConfig& c) {
    const PatchConfig patches = c.input.patches.value_or(PatchConfig{});
    Json json = encoder_json(c, "vit", "ViTForImageClassification");
    json["image_size"] = patches.height == patches.width ? Json(patches.height) : Json{patches.height, patches.width};
    json["patch_size"] = patches.size;
    json["num_channels"] = patches.channels;
    json["qkv_bias"] = true;
    if (c.class_head) json.update(labels_json(c.class_head->classes));
    return json;
}

Json llama_json(const TransformerConfig& c) {
    const BlockConfig& block = c.blocks[0];
    Json json = {{"architectures", {"LlamaForCausalLM"}},
                 {"model_type", "llama"},
                 {"hidden_size", c.width},
                 {"num_hidden_layers", c.layers()},
                 {"num_attention_heads", c.heads()},
                 {"num_key_value_heads", block.attention.kv_heads},
                 {"intermediate_size", block.feed_forward.hidden},
                 {"hidden_act", "silu"},
                 {"rms_norm_eps", block.norm.eps},
                 {"rope_theta", block.attention.rope_theta.value_or(10000)},
                 {"max_position_embeddings", c.max_seqlen},
                 {"vocab_size", c.vocab},
                 {"initializer_range", c.init_std},
                 {"pad_token_id", nullptr},
                 {"tie_word_embeddings", c.head && c.head->tied}};
    if (block.attention.bias) json["attention_bias"] = true;
    if (block.feed_forward.bias) json["mlp_bias"] = true;
    if (block.attention.dropout > 0) json["attention_dropout"] = block.attention.dropout;
    return json;
}

Json mixtral_json(const TransformerConfig& c) {
    const ExpertsConfig experts = c.blocks[0].experts.value_or(ExpertsConfig{});
    Json json = llama_json(c);
    for (const char* key : {"attention_bias", "mlp_bias"}) json.erase(key);  // which it has not
    json["architectures"] = {"MixtralForCausalLM"};
    json["model_type"] = "mixtral";
    json["num_local_experts"] = experts.count;
    json["num_experts_per_tok"] = experts.top;
    json["router_aux_loss_coef"] = experts.aux_weight;
    json["sliding_window"] = nullptr;
    return json;
}

// The family whose models are nearest, by what none of the others has.
WeightNames nearest_family(const TransformerConfig& c) {
    if (c.input.patches) return WeightNames::vit;
    if (!c.is_causal()) return WeightNames::bert;
    if (c.blocks[0].norm.kind != NormKind::rms) return WeightNames::gpt2;
    return c.blocks[0].experts ? WeightNames::mixtral : WeightNames::llama;
}

Json family_json(WeightNames names, const TransformerConfig& c) {
    switch (names) {
        case WeightNames::bert:
            return bert_json(c);
        case WeightNames::vit:
            return vit_json(c);
        case WeightNames::llama:
            return llama_json(c);
        case WeightNames::mixtral:
            return mixtral_json(c);
        default:
            return gpt2_json(c);
    }
}

}  // namespace

Counterpart huggingface_counterpart(const TransformerConfig& model) {
    const auto differs = [&](const BlockConfig& block) { return block != model.blocks[0]; };
    if (model.blocks.empty() || std::any_of(model.blocks.begin(), model.blocks.end(), differs))
        return {WeightNames::own, "its layers are not all alike"};
    if (model.blocks[0].experts && model.blocks[0].experts->scores_with_capacity)
        return {WeightNames::own,
                "its experts drop what is above their capacity when it is scored; set "
                "eval.capacity to \"none\""};
    const WeightNames names = nearest_family(model);
    Json theirs;
    try {
        theirs = parts_json(parse_huggingface_config(family_json(names, model), "config.json").config);
    } catch (const Error& error) {
        return {WeightNames::own, error.what()};
    }
    const std::vector<std::string> differences = part_differences(parts_json(model), theirs);
    if (differences.empty()) return {names, {}};
    return {WeightNames::own,
            fmt::format("{} is made of other parts: {}", family_name(names), fmt::join(differences, "; "))};
}

Json huggingface_config(const TransformerConfig& model, DType dtype, std::int32_t end_of_document) {
    const WeightNames names = nearest_family(model);
    Json json = family_json(names, model);
    if (end_of_document >= 0) json["bos_token_id"] = json["eos_token_id"] = end_of_document;
    if (dtype == DType::bf16) json["torch_dtype"] = "bfloat16";
    if (dtype == DType::f16) json["torch_dtype"] = "float16";
    return json;
}

}  // namespace deft::engine
