#pragma once
// The difficulty of a data set's training samples under a metric, analysed once and kept beside the corpus:
//
//   DATASET_FOLDER/difficulty/
//     METRIC-SEQLEN.{json,value.npy,order.npy}    an index, its fingerprint, which identifies its data, and the
//                                                 hashes that its files are held to; of BERT's samples
//                                                 METRIC-SEQLEN-<8 digits of a hash of how they are cut>
//     parts-<16 digits>/                          what an analysis has finished, see engine's analyzer.h; its name is a
//                                                 hash of the same fingerprint without the metric

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/data_efficiency/sampling/analyzer.h"
#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Read where they are and belong to this corpus, sample length, packing and version of the metric, made otherwise.
// Errors: io.
engine::DifficultyIndex load_difficulty(const Dataset& samples, const std::string& metric,
                                        const PrepareProgress& progress = {}, double* waited_seconds = nullptr);

struct AnalysisOptions {
    int threads = 0;  // 0: all cores
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    engine::Shard shard;
    PrepareProgress progress;
    double* waited_seconds = nullptr;  // where to add up how long another process was at it; null: nowhere
};

// Makes the indexes of several metrics that are not there, in one pass over the tokens. Gives the names of those made.
std::vector<std::string> analyse_difficulty(const Dataset& samples, std::span<const std::string> metrics,
                                            const AnalysisOptions& options);

// One machine's shard of it: indexes are not made. Several may run at once on one data folder.
engine::MissingParts analyse_shard(const Dataset& samples, std::span<const std::string> metrics,
                                   const AnalysisOptions& options);
// Once no part is missing: makes the indexes. Errors: io, for a missing part.
void reduce_shards(const Dataset& samples, std::span<const std::string> metrics, const AnalysisOptions& options);

// A file that a user names: an index's .json, or a column of another tool (.npy or .csv), see value_column.h.
// Errors: config, for an index of another corpus, tokenizer, sample length, packing or version of its metric, with what
// differs; io.
engine::DifficultyIndex open_difficulty(const Dataset& samples, const std::filesystem::path& file);

}  // namespace deft::experiments
