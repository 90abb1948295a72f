#include "engine/bench/corpus.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "engine/bench/zipf_tokens.h"
#include "engine/data/indexed_dataset.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;
using kernels::BenchCase;
using kernels::PreparedBench;

constexpr std::int64_t kTokens = 1 << 24, kDocument = 1 << 10;
constexpr std::int32_t kVocab = 50'257;

// Sums blocks in 32 bits, which vectorise better than 64 and do not overflow: 2^15 x 65535 < 2^31.
std::uint64_t sum_narrow(const std::uint16_t* token, std::int64_t count) {
    constexpr std::int64_t kBlock = 1 << 15;
    std::uint64_t sum = 0;
    for (std::int64_t first = 0; first < count; first += kBlock) {
        const std::int64_t last = std::min(count, first + kBlock);
        std::uint32_t block = 0;
        for (std::int64_t i = first; i < last; ++i) block += token[i];
        sum += block;
    }
    return sum;
}

std::uint64_t sum_wide(const std::int32_t* token, std::int64_t count) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<std::uint64_t>(token[i]);
    return sum;
}

std::uint64_t sum_words(std::span<const std::uint64_t> words) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum += word;
    return sum;
}

// Keeps a sum, and so the loop that made it.
void keep(std::uint64_t sum) {
    asm volatile("" : : "r"(sum) : "memory");
}

// The data that a case reads; the owner of its files goes with the last user.
struct OpenCorpus {
    std::shared_ptr<const void> files;
    fs::path prefix;
    std::shared_ptr<const IndexedDataset> dataset;
};

PreparedBench prepared_for(TokenSpan tokens) {
    PreparedBench prepared;
    prepared.bytes = prepared.footprint = static_cast<double>(tokens.size) * tokens.width;
    prepared.items = static_cast<double>(tokens.size);
    prepared.item = "token";
    return prepared;
}

// Right: a second look finds as many tokens and documents.
PreparedBench prepare_opening(const OpenCorpus& corpus) {
    PreparedBench prepared;
    prepared.items = static_cast<double>(corpus.dataset->documents());
    prepared.item = "document";
    const IndexedDataset again(corpus.prefix);
    if (again.tokens().size != corpus.dataset->tokens().size || again.documents() != corpus.dataset->documents())
        prepared.wrong = "the dataset changes while it is read";
    prepared.hot = [corpus] { const IndexedDataset dataset(corpus.prefix); };
    return prepared;
}

// Right: token after token gives the same sum.
PreparedBench prepare_reading(const OpenCorpus& corpus) {
    const TokenSpan tokens = corpus.dataset->tokens();
    PreparedBench prepared = prepared_for(tokens);
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < tokens.size; ++i) sum += static_cast<std::uint64_t>(tokens[i]);
    if (sum != sum_of_tokens(tokens)) prepared.wrong = "the sum is not that of the tokens";
    prepared.hot = [corpus, tokens] { keep(sum_of_tokens(tokens)); };
    prepared.cold = [corpus, tokens] {
        const auto bytes = static_cast<std::size_t>(tokens.size) * static_cast<std::size_t>(tokens.width);
        ::madvise(const_cast<void*>(tokens.data), bytes, MADV_DONTNEED);  // the pages stay in memory, unmapped
        keep(sum_of_tokens(tokens));
    };
    return prepared;
}

PreparedBench prepare_memory(const OpenCorpus& corpus) {
    const TokenSpan tokens = corpus.dataset->tokens();
    PreparedBench prepared = prepared_for(tokens);
    const auto words = std::make_shared<const std::vector<std::uint64_t>>(
        static_cast<std::size_t>(prepared.bytes) / sizeof(std::uint64_t), 1);
    if (sum_words(*words) != words->size()) prepared.wrong = "the sum of ones is not their count";
    prepared.hot = [words] { keep(sum_words(*words)); };
    return prepared;
}

std::vector<BenchCase> benches_of(const std::string& name, double bytes, const std::function<OpenCorpus()>& open) {
    const std::string memory = "corpus/memory/" + name;
    return {{"corpus/open/" + name, "cpu", 0, 0, [=](int) { return prepare_opening(open()); }},
            {"corpus/read/" + name, "cpu", 0, bytes, [=](int) { return prepare_reading(open()); }, false, memory},
            {memory, "cpu", 0, bytes, [=](int) { return prepare_memory(open()); }}};
}

OpenCorpus invented_corpus(std::uint64_t seed) {
    const auto folder = std::make_shared<const ScratchFolder>();
    const fs::path prefix = folder->path / "invented";
    const std::vector<std::uint16_t> narrow = zipf_tokens<std::uint16_t>(kTokens, kVocab, seed);
    const std::vector<std::int32_t> tokens(narrow.begin(), narrow.end());
    IndexedDatasetWriter writer(prefix, kVocab);
    for (std::int64_t first = 0; first < kTokens; first += kDocument)
        writer.add_document(std::span(tokens).subspan(static_cast<std::size_t>(first), kDocument));
    writer.finish();
    return {folder, prefix, std::make_shared<const IndexedDataset>(prefix)};
}

}  // namespace

std::uint64_t sum_of_tokens(TokenSpan tokens) {
    return tokens.width == 2 ? sum_narrow(static_cast<const std::uint16_t*>(tokens.data), tokens.size)
                             : sum_wide(static_cast<const std::int32_t*>(tokens.data), tokens.size);
}

std::vector<BenchCase> corpus_benches(std::uint64_t seed) {
    return benches_of(std::to_string(kTokens), 2.0 * kTokens, [seed] { return invented_corpus(seed); });
}

std::vector<BenchCase> corpus_benches(const fs::path& prefix) {
    const auto dataset = std::make_shared<const IndexedDataset>(prefix);
    const double bytes = static_cast<double>(dataset->tokens().size) * dataset->tokens().width;
    if (bytes < sizeof(std::uint64_t))
        throw Error(ErrorKind::usage, prefix.string() + " has no tokens to read", "name another prefix");
    return benches_of(prefix.filename().string(), bytes, [=] { return OpenCorpus{nullptr, prefix, dataset}; });
}

}  // namespace deft::engine
