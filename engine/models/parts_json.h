#pragma once
// A model's parts in words and numbers, for programs in other languages that build the same, and to compare models.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "engine/models/transformer_config.h"

namespace deft::engine {

// Whether all layers are alike, but for experts.
bool has_parts(const TransformerConfig& model);

// The parts without dropout and without expert settings that decide no weight. Errors: std::logic_error, for others.
Json parts_json(const TransformerConfig& model);

// The model that has those parts, without dropout. Errors: config, for what parts_json() does not write.
TransformerConfig model_of_parts(const Json& parts);

// One entry per part that differs, as in "width is 64, and 32 there".
std::vector<std::string> part_differences(const Json& parts, const Json& others);

}  // namespace deft::engine
