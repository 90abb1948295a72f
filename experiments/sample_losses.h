#pragma once
// The difficulty metric perplexity: how well a trained model predicts each sample.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "experiments/datasets/packed_dataset.h"
#include "experiments/evaluate_checkpoint.h"

namespace deft::experiments {

// (samples): the mean over a sample's seqlen targets of -ln p(target | what precedes it in the sample), nats a token;
// its exponential is the perplexity, which orders alike. Every token in every layer, float32 losses summed in float64.
// Errors: config, for a corpus of another tokenizer than the model's, for samples longer than the model takes, and for
// a model of BERT samples.
std::vector<double> sample_losses(TrainedModel& trained, const PackedDataset& dataset, std::int64_t seqlen,
                                  const PrepareProgress& progress = {});

// The same as a column file, DATASET_FOLDER/difficulty/perplexity-MODEL-SEQLEN.npy with the first eight digits of the
// model's hash, measured where it is absent. See value_column.h for how it becomes an order.
std::filesystem::path perplexity_column(TrainedModel& trained, const PackedDataset& dataset, std::int64_t seqlen,
                                        const PrepareProgress& progress = {});

}  // namespace deft::experiments
