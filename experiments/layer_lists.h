#pragma once
// Lists of a model's layers, as keys called "layers" give them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/table_reader.h"

namespace deft::experiments {

// "first-last", as in "1-22". Errors: config, with the place, for other text.
std::vector<std::int64_t> parse_layer_range(const TableReader& table, const std::string& text);

// Errors: config, with the place, for a layer that the model has not, or a list that does not ascend.
void require_layers(const TableReader& table, const std::vector<std::int64_t>& layers, std::int64_t layers_of_model);

}  // namespace deft::experiments
