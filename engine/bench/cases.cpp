#include "engine/bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/bench/sampler.h"
#include "engine/bench/zipf_tokens.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/tokenizer.h"
#include "engine/data/wordpiece/wordpiece.h"
#include "engine/data_efficiency/sampling/metric.h"
#include "engine/data_efficiency/sampling/order_samples.h"
#include "engine/data_efficiency/sampling/sampler.h"

namespace deft::engine {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

constexpr std::size_t kTextBytes = 1 << 18;
constexpr std::int32_t kStems = 2000, kSuffixes = 100;

// Five letters that no other number has.
std::string letters(std::int32_t number) {
    std::string word(5, 'a');
    for (std::size_t i = word.size(); i-- > 0; number /= 26) word[i] = static_cast<char>('a' + number % 26);
    return word;
}

std::string stem(std::int32_t number) {
    return letters(4'000'000 + 1543 * number);  // spread over the alphabet
}
std::string suffix(std::int32_t number) {
    return letters(number).substr(3);
}

// Words by Zipf's law, every third with a suffix; the number of each is (stem, suffix or -1).
struct InventedText {
    std::string text;
    std::vector<std::pair<std::int32_t, std::int32_t>> words;
};

InventedText invented_text(std::uint64_t seed) {
    const std::vector<std::uint16_t> numbers = zipf_tokens(kTextBytes / 6, kStems, seed);
    std::mt19937_64 random(seed);
    InventedText invented;
    for (const std::uint16_t number : numbers) {
        const bool is_long = random() % 3 == 0;
        const auto ending = static_cast<std::int32_t>(random() % kSuffixes);
        const std::string word = stem(number) + (is_long ? suffix(ending) : "") + ' ';
        if (invented.text.size() + word.size() > kTextBytes) break;
        invented.text += word;
        invented.words.emplace_back(number, is_long ? ending : -1);
    }
    invented.text.resize(kTextBytes, ' ');
    return invented;
}

template <class NewEncoder>
void encode_when_run(PreparedBench& prepared, std::string text, double tokens, const NewEncoder& new_encoder) {
    prepared.bytes = prepared.footprint = static_cast<double>(text.size());
    prepared.items = tokens;
    prepared.item = "token";
    prepared.hot = [text = std::move(text), new_encoder, out = std::vector<std::int32_t>()]() mutable {
        out.clear();
        new_encoder().encode(text, out);
    };
}

// 1024 entries learnt from the text itself. Right: what is decoded again is the text.
PreparedBench prepare_bpe(std::uint64_t seed) {
    const std::string text = invented_text(seed).text;
    const std::string_view document = text;
    const Tokenizer tokenizer(std::make_shared<const Bpe>(train_bpe({&document, 1}, 1024)), "bench");
    std::vector<std::int32_t> tokens;
    Encoder(tokenizer).encode(text, tokens);
    PreparedBench prepared;
    if (tokenizer.decode(tokens) != text) prepared.wrong = "decoded tokens are another text";
    if (tokens.size() > text.size() / 2) prepared.wrong = "hardly a pair was merged";
    encode_when_run(prepared, text, static_cast<double>(tokens.size()), [tokenizer] { return Encoder(tokenizer); });
    return prepared;
}

// Right: every word is its stem, and its suffix where it has one, by construction.
PreparedBench prepare_wordpiece(std::uint64_t seed) {
    const InventedText invented = invented_text(seed);
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    constexpr std::int32_t kFirstStem = 5, kFirstSuffix = kFirstStem + kStems;
    for (std::int32_t i = 0; i < kStems; ++i) lines += stem(i) + '\n';
    for (std::int32_t i = 0; i < kSuffixes; ++i) lines += std::string(kContinuation) + suffix(i) + '\n';
    const auto wordpiece = std::make_shared<const WordPiece>(parse_vocab_txt(lines, "bench"), WordPieceRules{});
    std::vector<std::int32_t> expected, tokens;
    for (const auto& [number, ending] : invented.words) {
        expected.push_back(kFirstStem + number);
        if (ending >= 0) expected.push_back(kFirstSuffix + ending);
    }
    WordPieceEncoder(wordpiece).encode(invented.text, tokens);
    PreparedBench prepared;
    if (tokens != expected) prepared.wrong = "a word was cut into other pieces";
    encode_when_run(prepared, invented.text, static_cast<double>(tokens.size()),
                    [wordpiece] { return WordPieceEncoder(wordpiece); });
    return prepared;
}

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
    const auto token = std::make_shared<const std::vector<std::uint16_t>>(zipf_tokens(tokens, vocab, seed));
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

// By (value, id). Right: a stable sort gives the same.
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

// Draws of 64 steps, one after the other, or from anywhere. Right: every draw alone gives the same, of what is
// admitted.
PreparedBench prepare_sampler(std::uint64_t seed, std::int64_t samples, std::int64_t batch) {
    constexpr std::int64_t kSteps = 10'000, kStepsARun = 64;
    const auto sampler = std::make_shared<const Sampler>(invented_sampler(samples, 1, kSteps, batch));
    std::vector<Sampler::Draw> draws(static_cast<std::size_t>(batch));
    PreparedBench prepared;
    const std::int64_t first = kSteps / 4 * batch;
    sampler->fill(first, draws);
    for (std::int64_t i = 0; i < batch; ++i) {
        const Sampler::Draw& draw = draws[static_cast<std::size_t>(i)];
        if (draw.sample != sampler->sample_at(first + i))
            prepared.wrong = fmt::format("draw {} depends on those before", i);
        if (draw.rank >= sampler->pool_size(first + i) || draw.sample < 0 || draw.sample >= samples)
            prepared.wrong = fmt::format("draw {} is of no admitted sample", i);
    }
    auto run = [sampler, draws, batch](std::int64_t step) mutable {
        for (std::int64_t i = 0; i < kStepsARun; ++i) sampler->fill((step + i) % kSteps * batch, draws);
    };
    prepared.items = static_cast<double>(kStepsARun * batch);
    prepared.item = "draw";
    prepared.bytes = 4 * prepared.items;  // one entry of the index each
    prepared.footprint = 4 * static_cast<double>(samples);
    prepared.hot = [run]() mutable { run(kSteps / 4); };
    prepared.cold = [run, random = std::mt19937_64(seed)]() mutable {
        run(static_cast<std::int64_t>(random() % kSteps));
    };
    return prepared;
}

}  // namespace

std::vector<BenchCase> engine_benches(std::uint64_t seed) {
    constexpr std::int64_t kTokens = 1 << 20, kLength = 1024, kOrdered = 1 << 20, kDrawnFrom = 1 << 23, kBatch = 512;
    constexpr std::int32_t kVocab = 50'257;
    return {{"tokenizer/bpe/1024", "cpu", 0, kTextBytes, [=](int) { return prepare_bpe(seed); }},
            {"tokenizer/wordpiece/2105", "cpu", 0, kTextBytes, [=](int) { return prepare_wordpiece(seed); }},
            {fmt::format("analyzer/voc/{}/{}/{}", kTokens, kLength, kVocab), "cpu", 0, 4 * kTokens,
             [=](int) { return prepare_rarity(seed, kTokens, kLength, kVocab); }},
            {fmt::format("analyzer/order/{}", kOrdered), "cpu", 0, 12 * kOrdered,
             [=](int threads) { return prepare_order(seed, kOrdered, threads); }},
            {fmt::format("sampler/{}/{}", kDrawnFrom, kBatch), "cpu", 0, 4 * 64 * kBatch,
             [=](int) { return prepare_sampler(seed, kDrawnFrom, kBatch); }}};
}

}  // namespace deft::engine
