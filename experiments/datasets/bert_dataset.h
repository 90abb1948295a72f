#pragma once
// The corpus that a configuration names as sentences, tokenised with a WordPiece vocabulary; kept as prepared_corpus.h
// says, with vocab.txt. A sequence of its tokens is a sentence.

#include <filesystem>
#include <memory>
#include <string>

#include "engine/data/bert/sentence_corpus.h"
#include "experiments/config.h"
#include "experiments/datasets/prepared_corpus.h"

namespace deft::experiments {

struct BertDataset {
    std::string name;  // for people
    std::string sha256;
    std::shared_ptr<const engine::WordPiece> wordpiece;
    engine::SentenceCorpus train, valid;
    std::filesystem::path folder;  // of this corpus, for what is derived from it
    std::string note;              // for people: that it was damaged, and recreated
    double waited_seconds = 0;     // while another process made it
};

// bert-base-uncased | a folder with vocab.txt | a .txt file. Errors: as read_vocab_txt; data, where it is not there.
std::shared_ptr<const engine::WordPiece> named_wordpiece(const std::string& name, bool lower_case,
                                                         const std::string& base_folder);

// The vocabulary in a folder's vocab.txt. Errors: as read_vocab_txt.
std::shared_ptr<const engine::WordPiece> read_wordpiece(const std::filesystem::path& folder, bool lower_case);

DatasetIdentity bert_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen = nullptr);

// Tokenises what is not tokenised yet. Errors: as load_packed_dataset().
BertDataset load_bert_dataset(const DataConfig& data, const std::string& base_folder,
                              const std::filesystem::path& data_folder, const PrepareProgress& progress = {});

}  // namespace deft::experiments
