#include "engine/bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/bench/corpus.h"
#include "engine/bench/sampler.h"
#include "engine/bench/tokenizer.h"
#include "engine/bench/zipf_tokens.h"
#include "engine/data_efficiency/sampling/metric.h"
#include "engine/data_efficiency/sampling/order_samples.h"

namespace deft::engine {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

// The sum of -ln p of each sample in double precision; the analyzer's is cut off, and sums in fixed point. A sample's
// last target is among its tokens, and a token that never occurs counts as one that does once.
std::string wrong_rarity(const std::vector<std::uint16_t>& tokens, std::int64_t length, std::int32_t vocab,
                         const std::vector<std::int64_t>& values) {
    const auto sample = [&](std::size_t i) {
        return std::span(tokens).subspan(i * static_cast<std::size_t>(length), static_cast<std::size_t>(length) + 1);
    };
    std::vector<double> count(static_cast<std::size_t>(vocab), 0);
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const std::uint16_t token : sample(i)) ++count[token];
    double total = 0;
    for (double& of_token : count) total += of_token = std::max(1.0, of_token);
    for (std::size_t i = 0; i < values.size(); ++i) {
        double nats = 0;
        for (const std::uint16_t token : sample(i)) nats -= std::log(count[token] / total);
        if (std::abs(static_cast<double>(values[i]) + 0.5 - nats) > 0.51)
            return fmt::format("sample {} has a rarity of {}, where {:.3f} is right", i, values[i], nats);
    }
    return "";
}

// Both passes, in memory, on one thread.
PreparedBench prepare_rarity(std::uint64_t seed, std::int64_t tokens, std::int64_t length, std::int32_t vocab) {
    const auto token =
        std::make_shared<const std::vector<std::uint16_t>>(zipf_tokens<std::uint16_t>(tokens, vocab, seed));
    const auto corpus = std::make_shared<TokenCorpus>();
    corpus->tokens = {token->data(), tokens, 2};
    corpus->owner = token;
    const SampleSource source = packed_samples(*corpus, length, vocab);
    const Metric metric = built_in_metric("voc");
    PreparedBench prepared;
    const std::vector<std::int64_t> values = metric_values(source, metric);
    if (static_cast<std::int64_t>(values.size()) != source.samples) prepared.wrong = "not every sample has a value";
    if (prepared.wrong.empty()) prepared.wrong = wrong_rarity(*token, length, vocab, values);
    prepared.bytes = 2 * 2 * static_cast<double>(tokens);
    prepared.footprint = 2 * static_cast<double>(tokens);
    prepared.items = static_cast<double>(tokens);
    prepared.item = "token";
    prepared.hot = [corpus, source, metric] { metric_values(source, metric); };
    return prepared;
}

// Sorts by (value, id). Correct: a stable sort gives the same.
PreparedBench prepare_order(std::uint64_t seed, std::int64_t samples, int threads) {
    constexpr std::int64_t kMemory = std::int64_t{1} << 28;
    auto values = std::make_shared<std::vector<std::uint32_t>>(static_cast<std::size_t>(samples));
    std::mt19937_64 random(seed);
    for (std::uint32_t& value : *values) value = static_cast<std::uint32_t>(random() % 100'000);
    const IntegerColumn column{values->data(), samples, number_type<std::uint32_t>()};
    auto order = std::make_shared<std::vector<std::uint64_t>>(values->size());
    const auto sort = [values, column, order, threads] {
        order_samples(column, threads, kMemory, [&](std::int64_t rank, std::span<const std::uint64_t> ids) {
            std::copy(ids.begin(), ids.end(), order->begin() + rank);
        });
    };
    sort();
    std::vector<std::uint64_t> expected(values->size());
    std::iota(expected.begin(), expected.end(), std::uint64_t{0});
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return (*values)[a] < (*values)[b]; });
    PreparedBench prepared;
    if (*order != expected) prepared.wrong = "the samples are not in the order of their values";
    prepared.bytes = prepared.footprint = (4 + 8) * static_cast<double>(samples);
    prepared.items = static_cast<double>(samples);
    prepared.item = "sample";
    prepared.hot = sort;
    return prepared;
}

}  // namespace

std::vector<BenchCase> engine_benches(std::uint64_t seed) {
    constexpr std::int64_t kTokens = 1 << 20, kLength = 1024, kOrdered = 1 << 20;
    constexpr std::int32_t kVocab = 50'257;
    std::vector<BenchCase> benches = tokenizer_benches(seed);
    std::ranges::move(corpus_benches(seed), std::back_inserter(benches));
    benches.push_back({fmt::format("analyzer/voc/{}/{}/{}", kTokens, kLength, kVocab), "cpu", 0, 4 * kTokens,
                       [=](int) { return prepare_rarity(seed, kTokens, kLength, kVocab); }});
    benches.push_back({fmt::format("analyzer/order/{}", kOrdered), "cpu", 0, 12 * kOrdered,
                       [=](int threads) { return prepare_order(seed, kOrdered, threads); }});
    std::ranges::move(sampler_benches(seed), std::back_inserter(benches));
    return benches;
}

}  // namespace deft::engine
