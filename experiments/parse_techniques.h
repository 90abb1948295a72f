#pragma once
// From TOML to the techniques of a trial: curricula, token dropping, batches that change their size.

#include <optional>
#include <string>

#include "base/table_reader.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "experiments/config.h"

namespace deft::experiments {

// Whether [curriculum.NAME] has a definition of its own, for any kind of samples: a column needs another name.
bool is_reserved_metric(const std::string& name);

// Each takes the reader of its own table; nothing where the table says enabled = false. Errors: config, with the place.
std::optional<CurriculumConfig> parse_curriculum(TableReader table, const ModelConfig& model, const DataConfig& data);
std::optional<TokenDroppingConfig> parse_token_dropping(TableReader table, const engine::TokenDropper& dropper,
                                                        const ModelConfig& model);
// The name of a token dropper that takes any samples, for messages.
std::string dropper_of_any_samples();
std::optional<BatchRampConfig> parse_batch_ramp(TableReader table, const TrainConfig& train);
std::optional<VariableBatchConfig> parse_variable_batch(TableReader table, const ModelConfig& model,
                                                        const TrainConfig& train);

}  // namespace deft::experiments
