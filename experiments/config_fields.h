#pragma once
// The keys of a trial's tables, with their values and meanings. Readers, JSON, `deft keys` and the schema of sweep
// files use these tables.

#include <vector>

#include "base/fields.h"
#include "base/key_table.h"
#include "experiments/config.h"

namespace deft::experiments {

const Fields& fields_of(const TrialConfig& config);  // keys outside of tables
const Fields& fields_of(const ModelConfig& model);
const Fields& fields_of(const ExpertLayersConfig& experts);
const Fields& fields_of(const DataConfig& data);
const Fields& fields_of(const BertSamplesConfig& bert);
const Fields& fields_of(const ImageSamplesConfig& images);
const Fields& fields_of(const LabelledConfig& labelled);
const Fields& fields_of(const StartConfig& start);
const Fields& fields_of(const TrainConfig& train);
const Fields& fields_of(const CurriculumConfig& curriculum);
const Fields& fields_of(const CurriculumMetric& metric);
const Fields& fields_of(const TokenDroppingConfig& dropping);  // with those of its dropper
const Fields& fields_of(const BatchRampConfig& ramp);
const Fields& fields_of(const VariableBatchConfig& batch);
const Fields& fields_of(const EvalConfig& eval);
const Fields& fields_of(const CheckpointConfig& checkpoint);

// All tables, each before its subtables; the first one is the trial itself.
std::vector<KeyTable> trial_tables();

}  // namespace deft::experiments
