#pragma once
// The difficulty of a data set's training samples under a metric, analysed once and kept beside the corpus.

#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "experiments/datasets/load.h"

namespace deft::experiments {

// Metrics that order samples, and so need an index; others (seqtru) do not.
bool needs_index(const std::string& metric);

// DATASET_FOLDER/difficulty/METRIC-SEQLEN.{json,value.npy,order.npy}: read where they are and belong to this corpus,
// sample length and version of the metric, made otherwise. Errors: io.
engine::DifficultyIndex load_difficulty(const Dataset& dataset, const std::string& metric, std::int64_t seqlen,
                                        const PrepareProgress& progress = {});

}  // namespace deft::experiments
