#include "engine/data_efficiency/sampling/token_rarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr std::int64_t kNarrowTokens = 65536;  // any two-byte token indexes a table of as many entries

[[noreturn]] void outside_vocabulary(std::int64_t token, std::int64_t vocab) {
    throw Error(ErrorKind::config,
                fmt::format("the corpus has token {}, and its tokenizer only 0 to {}", token, vocab - 1),
                "name the tokenizer that the corpus was made with");
}

// One table and plain loops: measured faster than interleaved tables, narrower counters and gathers, for the stores of
// this many counters miss the first-level cache, not the store buffer.
template <class T>
void count_tokens(const T* token, std::int64_t size, std::uint32_t* count) {
    for (std::int64_t i = 0; i < size; ++i) ++count[token[i]];
}

template <class T>
std::uint64_t sum_table(const T* token, std::int64_t size, const std::uint32_t* nats) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += nats[token[i]];
    return sum;
}

std::int64_t weight_of_length(std::int64_t length, std::uint32_t most) {
    const long double bound = static_cast<long double>(length) * most / static_cast<long double>(1 << kNatBits);
    std::int64_t weight = 10;
    while (static_cast<long double>(weight) < 10 * bound) {
        if (weight > std::numeric_limits<std::int64_t>::max() / 10 / std::max<std::int64_t>(1, length))
            throw Error(ErrorKind::config, fmt::format("samples of {} tokens are too long for seqreo_voc", length),
                        "take a shorter sample length, or another metric");
        weight *= 10;
    }
    return weight;
}

}  // namespace

TokenRarity token_rarity(std::span<const std::uint64_t> count, std::int64_t length) {
    TokenRarity rarity;
    rarity.vocab = static_cast<std::int64_t>(count.size());
    rarity.nats.assign(static_cast<std::size_t>(std::max(rarity.vocab, kNarrowTokens)), 0);
    std::uint64_t total = 0;
    for (const std::uint64_t c : count) total += std::max<std::uint64_t>(1, c);
    std::uint32_t most = 0;
    for (std::size_t v = 0; v < count.size(); ++v) {
        const long double odds =
            static_cast<long double>(total) / static_cast<long double>(std::max<std::uint64_t>(1, count[v]));
        rarity.nats[v] = static_cast<std::uint32_t>(std::llround(std::log(odds) * (1 << kNatBits)));
        most = std::max(most, rarity.nats[v]);
    }
    rarity.length_weight = weight_of_length(length, most);
    return rarity;
}

std::uint64_t sum_of_nats(TokenSpan tokens, const TokenRarity& rarity) {
    return tokens.width == 2
               ? sum_table(static_cast<const std::uint16_t*>(tokens.data), tokens.size, rarity.nats.data())
               : sum_table(static_cast<const std::int32_t*>(tokens.data), tokens.size, rarity.nats.data());
}

void require_vocabulary(TokenSpan tokens, std::int64_t vocab) {
    if (tokens.size == 0) return;
    const auto [least, most] = token_range(tokens);
    if (least < 0 || most >= vocab) outside_vocabulary(least < 0 ? least : most, vocab);
}

TokenCounter::TokenCounter(std::int32_t vocab)
    : vocab_(vocab), recent_(static_cast<std::size_t>(std::max<std::int64_t>(vocab, kNarrowTokens)), 0) {}

void TokenCounter::add(TokenSpan tokens) {
    if (recent_tokens_ + tokens.size > std::numeric_limits<std::uint32_t>::max()) flush();
    recent_tokens_ += tokens.size;
    if (tokens.width == 2) {
        count_tokens(static_cast<const std::uint16_t*>(tokens.data), tokens.size, recent_.data());
    } else {
        require_vocabulary(tokens, vocab_);
        count_tokens(static_cast<const std::int32_t*>(tokens.data), tokens.size, recent_.data());
    }
}

void TokenCounter::flush() {
    count_.resize(recent_.size(), 0);
    for (std::size_t v = 0; v < recent_.size(); ++v) count_[v] += recent_[v];
    std::fill(recent_.begin(), recent_.end(), 0);
    recent_tokens_ = 0;
}

void TokenCounter::add_to(std::span<std::uint64_t> total) {
    flush();
    const auto vocab = static_cast<std::size_t>(vocab_);
    for (std::size_t v = vocab; v < count_.size(); ++v)
        if (count_[v] > 0) outside_vocabulary(static_cast<std::int64_t>(v), vocab_);
    for (std::size_t v = 0; v < vocab; ++v) total[v] += count_[v];
}

}  // namespace deft::engine
