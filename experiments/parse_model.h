#pragma once
// The model, from TOML: [model].

#include "base/table_reader.h"
#include "experiments/config.h"

namespace deft::experiments {

// Reads what differs from the preset that it names, and that from the defaults of its kind. Errors: config, with the
// place: unknown keys, parts that do not fit each other, and a model that cannot take the samples of `data`.
// base_folder: of files that `data` names.
ModelConfig parse_model(TableReader table, const DataConfig& data, const std::string& base_folder = {});

}  // namespace deft::experiments
