#pragma once
// Difficulty metrics: functions of a sample's tokens, and of how rare tokens are where a metric asks for it.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/sample_source.h"
#include "engine/data_efficiency/sampling/token_rarity.h"

namespace deft::engine {

struct MeasuredSample {
    TokenSpan tokens;        // the real ones
    std::uint64_t nats = 0;  // sum of their -ln p, fixed point; 0 where no metric of the analysis needs counts
};

struct Metric {
    std::string name;           // also of its files
    int version = 1;            // raised by hand whenever it gives other values
    bool needs_counts = false;  // of all tokens of all samples: a first pass
    std::function<std::int64_t(const MeasuredSample&, const TokenRarity&)> value;
};

// voc: trunc(sum of -ln p), natural logarithm, not divided by the length. Source: arXiv 2212.03597, section 3.1, as the
//   published code computes it.
// voc_per_token: floor(1000 * sum of -ln p / tokens), thousandths of a nat a token; 0 for no tokens.
// seqlen: real tokens.
// seqreo_voc: tokens * C + voc, which orders by length, then by rarity; C is TokenRarity::length_weight.
// A plug-in is one more Metric beside these.
std::vector<Metric> built_in_metrics();

// Errors: config, naming those that there are.
Metric built_in_metric(const std::string& name);
bool is_built_in_metric(const std::string& name);

// The values of all samples, in memory. Errors: config, for tokens outside the vocabulary.
std::vector<std::int64_t> metric_values(const SampleSource& source, const Metric& metric);

}  // namespace deft::engine
