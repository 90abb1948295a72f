#pragma once
// config.json of Hugging Face's GPT-2, BERT, ViT, Llama and Mixtral, both ways.

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "engine/core/tensor.h"
#include "engine/io/weight_names.h"
#include "engine/models/transformer_config.h"

namespace deft::engine {

// The largest extents that are believed of a file.
inline constexpr std::int64_t kMostForeignLayers = 10'000;
inline constexpr std::int64_t kMostForeignExtent = std::int64_t{1} << 24;

struct HuggingFaceModel {
    WeightNames names = WeightNames::gpt2;
    // With the heads of the first of its architectures: BERT's are those of BertForPreTraining where it is another's.
    TransformerConfig config;
};

// file: for messages. Errors: io, for all but a JSON object with a model_type; config, naming the setting: one that
// is missing, out of range, or means what deft's models do not do, and one that is not known at all, unless it is null.
HuggingFaceModel parse_huggingface_config(const Json& json, const std::filesystem::path& file);

// Which of Hugging Face's models has the same parts, dropout aside.
struct Counterpart {
    WeightNames names = WeightNames::own;  // own: none
    std::string why_not;                   // what the nearest one of them has otherwise; empty where there is one
};
Counterpart huggingface_counterpart(const TransformerConfig& model);

// The part of config.json that has a counterpart: architectures, model_type and all extents. dtype: of the
// stored weights. end_of_document: the token that begins and ends a text, -1 where there is none.
Json huggingface_config(const TransformerConfig& model, DType dtype, std::int32_t end_of_document);

}  // namespace deft::engine
