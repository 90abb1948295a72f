#pragma once
// How samples are cut from text, from TOML: data.samples and [data.bert].

#include <string>

#include "base/table_reader.h"
#include "experiments/config.h"

namespace deft::experiments {

// Reads `bert`, the table of [data.bert] or null, and refuses what does not fit it in the rest of `data`, which is there
// already. Errors: config, with the place.
void parse_samples(const TableReader& table, const ConfigNode* bert, DataConfig& data);

// Why data.tokenizer cannot make data.samples, as what it lacks; empty where it can.
std::string tokenizer_problem(const DataConfig& data);

}  // namespace deft::experiments
