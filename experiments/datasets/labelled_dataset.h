#pragma once
// The records of a labelled task as samples: to train on, and of each split to be scored by.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/labelled/labelled_samples.h"
#include "experiments/config.h"
#include "experiments/datasets/prepared_corpus.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

using LabelledSamplesPointer = std::shared_ptr<const engine::LabelledSamples>;

struct LabelledSplit {
    std::string name;
    LabelledSamplesPointer samples;
};

struct LabelledDataset {
    Task task;
    std::string sha256;
    std::shared_ptr<const engine::WordPiece> wordpiece;
    LabelledSamplesPointer training;
    std::vector<LabelledSplit> splits;  // the task's own first
    std::int64_t train_bytes = 0;       // of the training texts
    std::string note;                   // for people: which further splits are not here
};

// The task that data.corpus names. Errors: config, for one that has no records to train on: a task of prompts.
Task labelled_task(const DataConfig& data, const std::string& base_folder);

// For classification its labels, else 0.
std::int64_t classes_of(const Task& task);

// The number of these records that fill whole batches; all where data.labelled.whole_batches is 0.
std::int64_t whole_batches_of(std::int64_t records, const LabelledConfig& labelled);

// The identity of the records, their labels and the tokenizer; with the number to train on. Errors: data, for files
// that are not here; as labelled_task() and read_vocab_txt().
DatasetIdentity labelled_identity(const DataConfig& data, const std::string& base_folder);

// How many records there are to train on. Errors: likewise.
std::int64_t training_records(const DataConfig& data, const std::string& base_folder);

// Rows of at most `seqlen` tokens. Errors: as above; config, with the place, for a record with another label than the
// task names, without a field or without text; config, where the records are not those of data.sha256 any more.
LabelledDataset load_labelled_dataset(const DataConfig& data, std::int64_t seqlen, const std::string& base_folder);

// Records as samples. Errors: config, with the place, as above.
LabelledSamplesPointer labelled_samples(const Task& task, const Records& records,
                                        const std::shared_ptr<const engine::WordPiece>& wordpiece, std::int64_t seqlen,
                                        bool truncates, std::int64_t& bytes);

}  // namespace deft::experiments
