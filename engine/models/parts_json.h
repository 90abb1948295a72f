#pragma once
// A model's parts in words and numbers, for programs in other languages that build the same.

#include "base/json_fwd.h"
#include "engine/models/transformer_config.h"

namespace deft::engine {

// Of a model whose layers are all alike; dropout is left out. Errors: std::logic_error, where layers differ.
Json parts_json(const TransformerConfig& model);

}  // namespace deft::engine
