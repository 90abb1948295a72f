#pragma once
// The data of a trial at one length: samples of any kind, as a model trains on them and is validated on, and as their
// difficulty is measured.

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/data/any_tokenizer.h"
#include "engine/data_efficiency/sampling/metric.h"
#include "engine/train/batches.h"
#include "experiments/datasets/bert_dataset.h"
#include "experiments/datasets/image_dataset.h"
#include "experiments/datasets/labelled_dataset.h"
#include "experiments/datasets/packed_dataset.h"

namespace deft::experiments {

struct Dataset {
    std::string name;  // for people
    std::string sha256;
    engine::AnyTokenizer tokenizer = engine::Tokenizer::bytes();  // of images none
    std::int64_t seqlen = 0;
    engine::TrainingData train, valid;
    // For labelled texts, all splits that a trained model is evaluated on; `valid` is the first.
    std::shared_ptr<const LabelledDataset> labelled;
    engine::SampleSource source;  // the training samples, unmasked
    // Count in the training text, without special tokens and marks; or of training images; or, with special tokens, of
    // the labelled texts.
    std::int64_t train_bytes = 0, train_tokens = 0;
    std::filesystem::path folder;  // of the corpus, for what is derived from it
    std::string note = {};         // for people: that the corpus was damaged, and recreated
    double waited_seconds = 0;     // while another process made it
};

// Errors: config, for a seqlen without room.
Dataset dataset_of(const PackedDataset& corpus, std::int64_t seqlen);
Dataset dataset_of(const BertDataset& corpus, const BertSamplesConfig& config, std::int64_t seqlen);
// folder: for what is derived from the images. seqlen: the tokens that a model makes of one.
Dataset dataset_of(const ImageDataset& images, const DataConfig& data, std::int64_t seqlen,
                   const std::filesystem::path& folder);

// folder: for what is derived from the texts.
Dataset dataset_of(LabelledDataset texts, std::int64_t seqlen, const std::filesystem::path& folder);

// The identity of the corpus and its tokenizer, without opening it. `seen`: hashes of text files not to be read again;
// null: all are read. Errors: as load_dataset().
DatasetIdentity dataset_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen = nullptr);

// Tokenises the corpus where that is not done yet. Errors: as load_packed_dataset() and similar functions; config,
// for a corpus without a training sample, or of BERT samples without one to validate on.
Dataset load_dataset(const DataConfig& data, std::int64_t seqlen, const std::string& base_folder,
                     const std::filesystem::path& data_folder, const PrepareProgress& progress = {});

}  // namespace deft::experiments
