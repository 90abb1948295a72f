#include "engine/bench/corpus.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/data/indexed_dataset.h"

namespace deft::engine {

namespace {

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

}  // namespace

std::uint64_t sum_of_tokens(TokenSpan tokens) {
    return tokens.width == 2 ? sum_narrow(static_cast<const std::uint16_t*>(tokens.data), tokens.size)
                             : sum_wide(static_cast<const std::int32_t*>(tokens.data), tokens.size);
}

CorpusRates corpus_rates(const std::filesystem::path& prefix, int rounds) {
    CorpusRates rates;
    Clock::time_point start = Clock::now();
    const IndexedDataset dataset(prefix);
    rates.open_seconds = seconds_since(start);
    const TokenSpan tokens = dataset.tokens();
    rates.tokens = tokens.size;
    rates.bytes = tokens.size * tokens.width;
    if (rates.bytes < 8)
        throw Error(ErrorKind::usage, prefix.string() + " has no tokens to read", "name another prefix");
    start = Clock::now();
    keep(sum_of_tokens(tokens));
    rates.first_seconds = seconds_since(start);

    const std::vector<std::uint64_t> words(static_cast<std::size_t>(rates.bytes / 8), 1);
    rates.hot_seconds = rates.memory_seconds = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        start = Clock::now();
        keep(sum_of_tokens(tokens));
        rates.hot_seconds = std::min(rates.hot_seconds, seconds_since(start));
        start = Clock::now();
        keep(sum_words(words));
        rates.memory_seconds = std::min(rates.memory_seconds, seconds_since(start));
    }
    return rates;
}

}  // namespace deft::engine
