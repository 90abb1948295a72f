#pragma once
// The corpus that a configuration names, tokenised and ready to train on.

#include <string>

#include "engine/data/token_corpus.h"
#include "experiments/config.h"

namespace deft::experiments {

struct Dataset {
    std::string name;  // "embedded seed 1", or the files
    std::string sha256;
    engine::TokenCorpus train, valid;
};

// Errors: io or config, naming the file and how to supply it.
Dataset load_dataset(const DataConfig& config, const std::string& base_folder);

// The hash alone, without tokenising.
std::string dataset_sha256(const DataConfig& config, const std::string& base_folder);

}  // namespace deft::experiments
