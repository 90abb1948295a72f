#pragma once
// The packed corpus that a configuration names, tokenised and ready to train on; kept as prepared_corpus.h says, with
// vocab.json and merges.txt unless the tokenizer is a byte tokenizer.

#include <filesystem>
#include <string>

#include "engine/data/token_corpus.h"
#include "engine/data/tokenizer.h"
#include "experiments/config.h"
#include "experiments/datasets/prepared_corpus.h"

namespace deft::experiments {

struct PackedDataset {
    std::string name;  // for people
    std::string sha256;
    engine::Tokenizer tokenizer;
    engine::TokenCorpus train, valid;
    std::filesystem::path folder;  // of this corpus, for what is derived from it
    std::string note = {};         // for people: that it was damaged, and recreated
    double waited_seconds = 0;     // while another process made it
};

// bytes | gpt2 | a folder with vocab.json and merges.txt. Errors: config or io.
engine::Tokenizer named_tokenizer(const std::string& name, const std::string& base_folder);

DatasetIdentity packed_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen = nullptr);

// Tokenises what is not tokenised yet; several processes may ask at once. What data.sha256 names is opened without
// reading the texts again where it is prepared; indexed datasets are hashed each time, for they are used in place.
// Errors: io or config, naming the file and how to supply it; config, where the texts are to be prepared and are not
// those of data.sha256 any more, and for a corpus without training or validation text.
PackedDataset load_packed_dataset(const DataConfig& data, const std::string& base_folder,
                                  const std::filesystem::path& data_folder, const PrepareProgress& progress = {});

}  // namespace deft::experiments
