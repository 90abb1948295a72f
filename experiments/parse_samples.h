#pragma once
// How samples are cut from text, from TOML: data.samples and [data.bert].

#include <string>

#include "base/table_reader.h"
#include "experiments/config.h"

namespace deft::experiments {

// Reads both keys of [data]; the rest of `data` is there already. Errors: config, with the place.
void parse_samples(TableReader& table, DataConfig& data);

// Why data.tokenizer cannot make data.samples, as what it lacks; empty where it can.
std::string tokenizer_problem(const DataConfig& data);

}  // namespace deft::experiments
