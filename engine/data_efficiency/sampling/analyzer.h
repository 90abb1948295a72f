#pragma once
// The difficulty analyzer: any number of metrics in one pass over the tokens (two, where one needs counts), by parts
// that several machines may share and that outlive a kill.
//
//   parts folder/               one for each corpus and cut into samples; see AnalyzerOptions::parts
//     counts-00007.npy          (V) u8: how often each token occurs in part 7
//     voc-v2-00007.npy          (samples of part 7): the values of a metric and its version
//
// Every file is whole or absent, and a part is measured only where its file is absent. A part's values depend on the
// counts of all parts. Neither threads nor shards nor memory change a bit of any file.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/metric.h"

namespace deft::engine {

// Part p is measured by the machine whose index is p modulo count.
struct Shard {
    std::int64_t index = 0, count = 1;
};

struct AnalyzerOptions {
    // Created where absent. Its name must give the corpus, the tokenizer, the sample length and the packing: what lies
    // in it is taken for finished parts of these very samples.
    std::filesystem::path parts;
    Shard shard;
    int threads = 1;
    // Bounds what the reduction allocates, up to a megabyte a thread more. The first pass takes 16 V bytes a thread,
    // the second eight bytes a sample of one part (at most 2^22) and metric.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const std::string& what, double fraction)> progress;
};

// Samples of a part: a 1024th of all, but at least some 2^28 tokens and at most 2^22 samples.
std::int64_t samples_of_part(const SampleSource& source);

// The parts that the folder still lacks, over all shards.
struct MissingParts {
    std::vector<std::int64_t> counts, values;

    bool none() const { return counts.empty() && values.empty(); }
};

// Counts tokens and measures samples of the shard's parts, as far as it can: values need the counts of every shard.
// Errors: config, for tokens outside the vocabulary; io.
MissingParts map_samples(const SampleSource& source, std::span<const Metric> metrics, std::int64_t part_samples,
                         const AnalyzerOptions& options);

// Joins all parts of a metric and orders the samples: FOLDER/NAME.value.npy and .order.npy, see difficulty_index.h.
// Errors: io, for missing or foreign parts.
void reduce_parts(std::int64_t samples, const Metric& metric, std::int64_t part_samples, const AnalyzerOptions& options,
                  const std::filesystem::path& folder, const std::string& name);

}  // namespace deft::engine
