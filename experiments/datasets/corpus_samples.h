#pragma once
// The training samples of a corpus at one length, of either kind, as their difficulty is measured and as they are
// drawn.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/data/bert/samples.h"
#include "engine/data_efficiency/sampling/metric.h"
#include "experiments/datasets/bert_dataset.h"
#include "experiments/datasets/load.h"

namespace deft::experiments {

struct CorpusSamples {
    std::string corpus;  // for people
    std::string corpus_sha256, tokenizer_sha256;
    std::int64_t seqlen = 0;
    engine::SampleSource source;
    std::shared_ptr<const engine::BertSamples> bert;  // null: packed
    std::filesystem::path folder;                     // of the corpus, for what is derived from it
    std::string note = {};  // for people: that the corpus was damaged, and made anew
};

CorpusSamples samples_of(const Dataset& dataset, std::int64_t seqlen);
// Errors: config, for a seqlen without room.
CorpusSamples samples_of(const BertDataset& dataset, const BertSamplesConfig& config, std::int64_t seqlen);

// Tokenises the corpus where that is not done yet. Errors: as load_dataset() and load_bert_dataset(); config, for a
// corpus without a sample.
CorpusSamples load_samples(const DataConfig& data, std::int64_t seqlen, const std::string& base_folder,
                           const std::filesystem::path& data_folder, const PrepareProgress& progress = {});

}  // namespace deft::experiments
