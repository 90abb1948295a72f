#pragma once
// Kinds of transformers: names for sets of defaults, which any key of [model] may change.

#include <string>
#include <vector>

#include "engine/models/transformer_config.h"
#include "experiments/config.h"

namespace deft::experiments {

std::vector<std::string> model_kinds();
// Errors of both: std::logic_error, for a kind that is not one of those.
ModelConfig defaults_of_kind(const std::string& kind);
// The samples that models of the kind train on, and the kind of such samples' models where none is named.
SampleKind samples_of_kind(const std::string& kind);
std::string kind_for(SampleKind samples);

// A model with equal layers, for a vocabulary of this many entries, which has no effect on images.
engine::TransformerConfig transformer_config(const ModelConfig& model, std::int64_t vocab);

// The other way. Errors: config, listing what no [model] has.
ModelConfig model_config(const engine::TransformerConfig& config);

}  // namespace deft::experiments
