#include "engine/data_efficiency/sampling/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/suggestion.h"

namespace deft::engine {

namespace {

// trunc(sum of -ln p), natural logarithm, not divided by the length. Source: arXiv 2212.03597, section 3.1, as the
// published code computes it.
std::int64_t voc(const MeasuredSample& sample, const TokenRarity&) {
    return static_cast<std::int64_t>(sample.nats >> kNatBits);
}

// floor(1000 * sum of -ln p / tokens), thousandths of a nat per token; 0 for no tokens. Quotient and remainder are
// scaled apart: a thousand sums would not fit 64 bits.
std::int64_t voc_per_token(const MeasuredSample& sample, const TokenRarity&) {
    const auto tokens = static_cast<std::uint64_t>(sample.tokens.size);
    if (tokens == 0) return 0;
    const std::uint64_t thousandths = sample.nats / tokens * 1000 + sample.nats % tokens * 1000 / tokens;
    return static_cast<std::int64_t>(thousandths >> kNatBits);
}

// Type-token ratio: floor(1000 * distinct tokens / tokens); 0 for no tokens.
std::int64_t ttr(const MeasuredSample& sample, const TokenRarity&) {
    const std::int64_t tokens = sample.tokens.size;
    if (tokens == 0) return 0;
    std::vector<std::int32_t> distinct(static_cast<std::size_t>(tokens));  // (T)
    for (std::int64_t t = 0; t < tokens; ++t) distinct[static_cast<std::size_t>(t)] = sample.tokens[t];
    std::sort(distinct.begin(), distinct.end());
    return 1000 * (std::unique(distinct.begin(), distinct.end()) - distinct.begin()) / tokens;
}

// Real tokens.
std::int64_t seqlen(const MeasuredSample& sample, const TokenRarity&) {
    return sample.tokens.size;
}

// tokens * C + voc, which orders by length, then by rarity; C is TokenRarity::length_weight.
std::int64_t seqreo_voc(const MeasuredSample& sample, const TokenRarity& rarity) {
    return sample.tokens.size * rarity.length_weight + voc(sample, rarity);
}

// Metrics that order by rarity alone.
CurriculumUse rarity_use(const char* name) {
    return {.name = name,
            .meaning = "admit rare words later",
            .orders_by = {SampleOrder::by_words},
            .sample_kinds = {SampleKind::packed, SampleKind::bert},
            .excludes = {{"seqreo_voc", "orders by rarity, which seqreo_voc already does", "keep one of them"},
                         {"seqreo", "and seqreo both order the samples",
                          "write [curriculum.seqreo_voc], which orders by length and then by rarity"}}};
}

CurriculumUse ttr_use() {
    return {.name = "ttr",
            .meaning = "admits samples of many distinct words later",
            .orders_by = {SampleOrder::by_words},
            .sample_kinds = {SampleKind::packed, SampleKind::bert}};
}

constexpr Exclusion kTruncation = {
    "seqtru", "and seqtru both begin with short samples, one by order and one by truncation", "keep one of them"};

CurriculumUse seqreo_use() {
    return {.name = "seqreo",
            .meaning = "admits long samples later",
            .orders_by = {SampleOrder::by_length},
            .sample_kinds = {SampleKind::bert},
            .excludes = {kTruncation, {"seqreo_voc", "is already part of seqreo_voc", "keep one of them"}}};
}

CurriculumUse seqreo_voc_use() {
    return {.name = "seqreo_voc",
            .meaning = "admits long samples later, and at equal length rare words (both for BERT samples only)",
            .orders_by = {SampleOrder::by_length, SampleOrder::by_words},
            .sample_kinds = {SampleKind::bert},
            .excludes = {kTruncation}};
}

}  // namespace

std::vector<Metric> built_in_metrics() {
    return {
        {"voc", 2, true, voc, rarity_use("voc")},
        {"voc_per_token", 1, true, voc_per_token, rarity_use("voc_per_token")},
        {"ttr", 1, false, ttr, ttr_use()},
        {"seqlen", 1, false, seqlen, seqreo_use()},
        {"seqreo_voc", 1, true, seqreo_voc, seqreo_voc_use()},
    };
}

bool is_built_in_metric(const std::string& name) {
    const std::vector<Metric> metrics = built_in_metrics();
    return std::any_of(metrics.begin(), metrics.end(), [&](const Metric& metric) { return metric.name == name; });
}

Metric built_in_metric(const std::string& name) {
    std::vector<std::string> names;
    for (Metric& metric : built_in_metrics()) {
        if (metric.name == name) return metric;
        names.push_back(metric.name);
    }
    throw Error(ErrorKind::config, fmt::format("no metric that orders samples is called \"{}\"", name),
                suggestion(name, names));
}

std::vector<std::int64_t> metric_values(const SampleSource& source, const Metric& metric) {
    TokenRarity rarity;
    std::vector<std::int32_t> scratch;
    if (metric.needs_counts) {
        TokenCounter counter(source.vocab);
        std::vector<std::uint64_t> count(static_cast<std::size_t>(source.vocab), 0);  // (V)
        for (std::int64_t i = 0; i < source.samples; ++i) counter.add(source.tokens(i, scratch));
        counter.add_to(count);
        rarity = token_rarity(count, source.length);
    }
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(source.samples));
    for (std::int64_t i = 0; i < source.samples; ++i) {
        const TokenSpan tokens = source.tokens(i, scratch);
        values.push_back(metric.value({tokens, metric.needs_counts ? sum_of_nats(tokens, rarity) : 0}, rarity));
    }
    return values;
}

SampleSource packed_samples(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab) {
    if (seqlen < 1 || seqlen >= std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorKind::config, fmt::format("samples of {} tokens are not possible", seqlen),
                    "take a sample length of 1 to 2^31 - 2");
    return {corpus.samples(seqlen), seqlen + 1, vocab, "packed",
            [corpus, seqlen](std::int64_t sample, std::vector<std::int32_t>&) {
                return corpus.tokens.part(sample * seqlen, seqlen + 1);
            }};
}

SampleSource bert_samples(std::shared_ptr<const BertSamples> samples) {
    const SampleShape& shape = samples->shape();
    const std::string packing = fmt::format("bert, {}, short {}, seed {}", shape.pairs ? "pairs" : "single segments",
                                            shape.short_probability, samples->seed());
    return {samples->size(), shape.seqlen, samples->wordpiece()->vocab(), packing,
            [samples](std::int64_t sample, std::vector<std::int32_t>& scratch) -> TokenSpan {
                samples->write_whole(sample, scratch);
                return {scratch.data(), static_cast<std::int64_t>(scratch.size()), 4};
            }};
}

}  // namespace deft::engine
