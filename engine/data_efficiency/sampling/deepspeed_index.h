#pragma once
// The files that DeepSpeed's data analyzer leaves, and its data sampler reads:
//
//   FOLDER/METRIC_sample_to_metric                     row i: the value of sample i
//   FOLDER/METRIC_index_to_metric                      row i: the i-th distinct value, ascending
//   FOLDER/METRIC_index_to_sample                      row i: the samples of that value, ascending
//   FOLDER/METRIC_index_to_sample_percentile_merged    the same samples, rows of max(1, distinct / 100) values joined
//
// each a .bin and an .idx, see deepspeed_rows.h.

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/data_efficiency/sampling/difficulty_index.h"

namespace deft::engine {

// All four. Errors: io; config, for a value of more than 2^31 - 1 samples, before anything of that file is written.
void write_deepspeed_index(const DifficultyIndex& index, const std::filesystem::path& folder,
                           const std::string& metric);

struct DeepSpeedIndex {
    DifficultyIndex index;
    bool has_values = true;  // false from percentile_merged alone: a value is then the number of the sample's row there
};

// From index_to_sample and index_to_metric; where those are absent from sample_to_metric, then from percentile_merged.
// Errors: io, for damaged files, for samples other than 0 .. samples - 1, each once, and where no such file is there.
DeepSpeedIndex read_deepspeed_index(const std::filesystem::path& folder, const std::string& metric,
                                    std::int64_t samples);

}  // namespace deft::engine
