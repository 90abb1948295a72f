#pragma once
// How samples are cut from text, or images are shown, from TOML: data.samples, [data.bert], [data.images] and
// [data.labelled].

#include <string>

#include "base/table_reader.h"
#include "experiments/config.h"

namespace deft::experiments {

// Their tables, or null.
struct SampleTables {
    const ConfigNode* bert = nullptr;
    const ConfigNode* images = nullptr;
    const ConfigNode* labelled = nullptr;
};

// Reads them, and refuses what does not fit the kind of samples in the rest of `data`, which is there already. Errors:
// config, with the place.
void parse_samples(const TableReader& table, const SampleTables& tables, DataConfig& data);

// Why data.tokenizer cannot make data.samples, as what it lacks; empty where it can.
std::string tokenizer_problem(const DataConfig& data);

}  // namespace deft::experiments
