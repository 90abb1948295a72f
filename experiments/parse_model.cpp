#include "experiments/parse_model.h"

#include <fmt/format.h>

#include "engine/data/bert/samples.h"
#include "experiments/config_fields.h"
#include "experiments/datasets/image_dataset.h"
#include "experiments/datasets/labelled_dataset.h"
#include "experiments/model_kinds.h"
#include "experiments/model_presets.h"
#include "experiments/parse_experts.h"
#include "experiments/size_limits.h"
#include "kernels/attention.h"

namespace deft::experiments {

namespace {

// Touvron et al. 2023, section 2.2, for gated parts: two thirds of 4 x width, so that the part has as many weights.
std::int64_t default_hidden(const ModelConfig& model) {
    if (model.activation != kernels::Activation::swiglu) return 4 * model.width;
    return (8 * model.width / 3 + 7) / 8 * 8;
}

void require_heads(const TableReader& table, const ModelConfig& model) {
    if (model.width % model.heads != 0)
        table.refuse("width",
                     fmt::format("is {} and must be a multiple of model.heads = {}", model.width, model.heads));
    if (model.heads % model.kv_heads != 0)
        table.refuse("kv_heads", fmt::format("is {} and must divide model.heads = {}", model.kv_heads, model.heads));
    if (model.positions == PositionEncoding::rope && model.width / model.heads % 2 != 0)
        table.refuse(
            "positions",
            fmt::format("= \"rope\" requires an even head size, but width / heads is {}", model.width / model.heads),
            "choose model.width and model.heads so that width / heads is even");
    using Dropout = kernels::AttentionDropout;
    if (model.attention_dropout > 0 && (model.heads > Dropout::kMostHeads || model.seqlen > Dropout::kMostKeys))
        table.refuse("attention_dropout",
                     fmt::format("supports at most {} heads and {} tokens", Dropout::kMostHeads, Dropout::kMostKeys),
                     "set it to 0, or lower model.heads or model.seqlen");
}

// Masked tokens are predicted from both sides, and packed ones from the preceding tokens.
void require_samples(const TableReader& table, const ModelConfig& model, const DataConfig& data) {
    if (data.samples == SampleKind::bert) {
        const std::int64_t shortest = engine::SampleShape{.pairs = data.bert.pairs}.shortest_cut();
        table.require_at_least("seqlen", model.seqlen, shortest);
        if (model.causal)
            table.refuse("causal",
                         "is true, but the masked tokens of data.samples = \"bert\" are predicted from both sides",
                         "set model.kind = \"bert\", or model.causal = false");
        if (model.segments == 1)
            table.refuse("segments", "is 1, but BERT samples have two segments", "set it to 2, or to 0 for none");
        return;
    }
    if (!model.causal)
        table.refuse("causal",
                     "is false, but packed samples train next-token prediction, which requires causal attention",
                     "set model.causal = true, or data.samples = \"bert\"");
    if (model.segments > 0)
        table.refuse("segments", fmt::format("is {}, but packed samples have no segments", model.segments),
                     "set it to 0, or data.samples = \"bert\"");
}

// Parts that are of models of tokens.
void refuse_parts_of_tokens(const TableReader& table, const ModelConfig& model) {
    const ModelConfig plain;
    const auto refuse = [&](const char* key, bool is_set, const char* why) {
        if (is_set) table.refuse(key, why, "drop the key, or train on text");
    };
    refuse("causal", model.causal, "is true, but an image's class is predicted from all of its patches");
    refuse("segments", model.segments != 0, "has no effect with images");
    refuse("input_norm", model.input_norm, "has no effect with images");
    refuse("order_head", model.order_head, "needs two segments of text");
    refuse("head_transform", model.head_transform, "has no effect with images, whose model has a classification head");
    refuse("head_bias", model.head_bias, "has no effect with images: a classification head always has a bias");
    refuse("tied_head", model.tied_head != plain.tied_head,
           "has no effect with images, whose model has a classification head");
}

// Image sizes default to the data's; stated ones must equal the data's.
void take_images_of(const TableReader& table, const DataConfig& data, ModelConfig& model) {
    const std::optional<CatalogueEntry> entry = image_entry(data);
    const auto take = [&](const char* key, std::int64_t& own, std::int64_t of_data) {
        if (own == 0) own = of_data;
        if (own == 0) table.refuse(key, "is missing", "set it, or name an image dataset in data.corpus");
        if (entry && own != of_data)
            table.refuse(key, fmt::format("is {}, but the images of {} have {}", own, entry->name, of_data),
                         "drop the key, or set it to 0 with a preset, to take it from the data");
    };
    const std::int64_t resized = data.images.resize;
    if (entry && resized != 0 && resized < std::max(entry->height, entry->width))
        table.refuse("image_height",
                     fmt::format("would be {} after data.images.resize, less than the {} x {} pixels of {}", resized,
                                 entry->height, entry->width, entry->name),
                     "raise data.images.resize");
    take("image_height", model.image_height, resized != 0 ? resized : entry ? entry->height : 0);
    take("image_width", model.image_width, resized != 0 ? resized : entry ? entry->width : 0);
    take("image_channels", model.image_channels, entry ? entry->channels : 0);
    take("classes", model.classes, entry ? entry->classes : 0);
}

// seqlen: as it was given, or 0.
void fill_images(const TableReader& table, const DataConfig& data, std::int64_t seqlen, ModelConfig& model) {
    if (model.patch == 0)
        table.refuse("patch", "is 0, but data.samples = \"images\" requires patches",
                     "set the side of a patch in pixels");
    take_images_of(table, data, model);
    if (model.image_height % model.patch != 0 || model.image_width % model.patch != 0)
        table.refuse("patch", fmt::format("is {}, and must divide both sides of images of {} x {} pixels", model.patch,
                                          model.image_height, model.image_width));
    refuse_parts_of_tokens(table, model);
    model.seqlen = 1 + model.image_height / model.patch * (model.image_width / model.patch);
    if (seqlen != 0 && seqlen != model.seqlen)
        table.refuse(
            "seqlen",
            fmt::format("is {}, but the image determines it: {} patches and the class token", seqlen, model.seqlen - 1),
            "drop the key");
    table.require_at_most("seqlen", model.seqlen, kMostSeqlen);
}

void refuse_image_keys(const TableReader& table, const ModelConfig& model, bool is_labelled) {
    const ModelConfig plain;
    const auto refuse = [&](const char* key, bool is_set) {
        if (is_set)
            table.refuse(key, "applies only to image models, but the data is text",
                         "set data.samples = \"images\", or drop the key");
    };
    refuse("patch", model.patch != 0);
    refuse("image_height", model.image_height != 0);
    refuse("image_width", model.image_width != 0);
    refuse("image_channels", model.image_channels != 0);
    refuse("classes", !is_labelled && model.classes != 0);
    refuse("pooling", model.pooling != plain.pooling);
}

// The task decides what its labels are; the heads of pretraining are not there.
void fill_labelled(TableReader& table, const DataConfig& data, const std::string& base_folder, bool has_head_dropout,
                   ModelConfig& model) {
    if (model.causal)
        table.refuse("causal",
                     "is true, but labels are predicted from the first token, which must attend to all others",
                     "set model.kind = \"bert\"");
    if (model.segments == 1)
        table.refuse("segments", "is 1, but pairs of texts have two segments", "set it to 2, or to 0 for none");
    const Task task = labelled_task(data, base_folder);
    const std::int64_t classes = classes_of(task);
    if (model.classes != 0 && model.classes != classes)
        table.refuse("classes", fmt::format("is {}, but the labels of {} are {}", model.classes, task.name, classes),
                     "drop the key: the task determines it");
    if (table.optional_node("value_head") != nullptr && model.value_head != (classes == 0))
        table.refuse("value_head",
                     fmt::format("is {}, but the labels of {} are {}", model.value_head, task.name,
                                 classes == 0 ? "numbers" : "classes"),
                     "drop the key: the task determines it");
    model.classes = classes;
    model.value_head = classes == 0;
    if (!has_head_dropout) model.head_dropout = model.dropout;
    const ModelConfig plain;
    const auto drop_head_of_tokens = [&](const char* key, bool& part, bool none) {
        if (table.optional_node(key) != nullptr && part != none)
            table.refuse(key, "has no effect with labelled texts, whose model has only a label head", "drop the key");
        part = none;
    };
    drop_head_of_tokens("tied_head", model.tied_head, plain.tied_head);
    drop_head_of_tokens("head_bias", model.head_bias, plain.head_bias);
    drop_head_of_tokens("head_transform", model.head_transform, plain.head_transform);
    drop_head_of_tokens("order_head", model.order_head, plain.order_head);
}

void refuse_label_keys(const TableReader& table, const ModelConfig& model) {
    const auto refuse = [&](const char* key, bool is_set) {
        if (is_set)
            table.refuse(key, "applies only to labelled texts", "set data.samples = \"labelled\", or drop the key");
    };
    refuse("value_head", model.value_head);
    refuse("head_dropout", model.head_dropout != 0);
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

ModelConfig parse_model(TableReader table, const DataConfig& data, const std::string& base_folder) {
    const ConfigNode preset = preset_of(table);
    TableReader by_preset(preset, "model");
    std::string kind = kind_for(data.samples);
    by_preset.optional("kind", kind);
    table.optional("kind", kind);
    table.require_one_of("kind", kind, model_kinds());
    ModelConfig model = defaults_of_kind(kind);
    const bool has_pairs = data.samples == SampleKind::bert && data.bert.pairs;
    model.order_head = model.order_head && has_pairs;
    const ExpertTables experts{by_preset.optional_node("experts"), table.optional_node("experts")};
    read_table(by_preset, model);
    read_table(table, model);
    model.experts = parse_experts(experts, table.name("experts"), model.layers);
    const auto is_set = [&](const char* key) {
        return table.optional_node(key) != nullptr || by_preset.optional_node(key) != nullptr;
    };
    const bool is_labelled = data.samples == SampleKind::labelled;
    if (model.kv_heads == 0) model.kv_heads = model.heads;
    if (model.hidden == 0) model.hidden = default_hidden(model);
    if (data.samples == SampleKind::images)
        fill_images(table, data, is_set("seqlen") ? model.seqlen : 0, model);
    else
        refuse_image_keys(table, model, is_labelled);
    if (is_labelled)
        fill_labelled(table, data, base_folder, is_set("head_dropout"), model);
    else
        refuse_label_keys(table, model);
    require_heads(table, model);
    if (model.positions != PositionEncoding::rope && model.rope_theta != ModelConfig{}.rope_theta)
        table.refuse("rope_theta", fmt::format("has no effect with positions = \"{}\"", name_of(model.positions)),
                     "set model.positions = \"rope\", or drop the key");
    if (data.samples != SampleKind::images && !is_labelled) require_samples(table, model, data);
    if (model.order_head && !has_pairs)
        table.refuse("order_head", "requires samples of two segments, but these have one",
                     "set it to false, or data.samples = \"bert\" with data.bert.pairs = true");
    if (model.head_transform && model.activation == kernels::Activation::swiglu)
        table.refuse("head_transform", "cannot be combined with model.activation = \"swiglu\", which requires a gate",
                     "set it to false, or another model.activation");
    return model;
}

}  // namespace deft::experiments
