#pragma once
// Samples as their difficulty is measured: the tokens of each, without padding.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/data/bert/samples.h"
#include "engine/data/sample_kind.h"
#include "engine/data/token_corpus.h"
#include "engine/data_efficiency/sampling/token_rarity.h"

namespace deft::engine {

struct SampleSource {
    std::int64_t samples = 0;
    std::int64_t length = 0;  // of the longest sample, with its padding; below 2^31
    std::int32_t vocab = 0;   // tokens are 0 .. vocab - 1
    std::string packing;      // how text became samples; part of a fingerprint
    // The real tokens of a sample, in the corpus or, where samples are put together, in `scratch`: valid until that is
    // used again. Called from several threads at once, each with a scratch of its own.
    std::function<TokenSpan(std::int64_t sample, std::vector<std::int32_t>& scratch)> tokens;
};

// Sample i is tokens [i * seqlen, i * seqlen + seqlen]: inputs and the last target. Errors: config, for a seqlen below
// 1 or of 2^31 - 1 and more.
SampleSource packed_samples(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab);

// BERT's samples, whole and unmasked, special tokens counted.
SampleSource bert_samples(std::shared_ptr<const BertSamples> samples);

// Difficulty metrics: functions of a sample's tokens, and of how rare tokens are where a metric asks for it.

struct MeasuredSample {
    TokenSpan tokens;        // the real ones
    std::uint64_t nats = 0;  // sum of their -ln p, fixed point; 0 where no metric of the analysis needs counts
};

// The property of a sample that a metric reads.
enum class SampleOrder { by_length, by_words };

// A metric that cannot share a curriculum with the one whose entry lists it.
struct Exclusion {
    const char* other;  // its name in curricula
    const char* why;    // continues "curriculum.NAME"
    const char* fix;
};

// The properties of a metric that curricula use.
struct CurriculumUse {
    const char* name = "";                      // of its table, [curriculum.NAME]
    const char* meaning = "";                   // continues "NAME: "
    std::vector<SampleOrder> orders_by = {};    // the first decides
    std::vector<SampleKind> sample_kinds = {};  // that it applies to
    std::vector<Exclusion> excludes = {};       // each pair is in one of its two entries
};

struct Metric {
    std::string name;           // also of its files
    int version = 1;            // raised by hand whenever it gives other values
    bool needs_counts = false;  // of all tokens of all samples: a first pass
    std::function<std::int64_t(const MeasuredSample&, const TokenRarity&)> value;
    CurriculumUse curriculum = {};
};

// A further metric is a function in metric.cpp, with its formula, and its entry there, which also says how curricula
// use it.
std::vector<Metric> built_in_metrics();

// Errors: config, naming those that there are.
Metric built_in_metric(const std::string& name);
bool is_built_in_metric(const std::string& name);

// The values of all samples, in memory. Errors: config, for tokens outside the vocabulary.
std::vector<std::int64_t> metric_values(const SampleSource& source, const Metric& metric);

}  // namespace deft::engine
