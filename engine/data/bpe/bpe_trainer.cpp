#include "engine/data/bpe/bpe_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "engine/data/bpe/splitter.h"

namespace deft::engine {

namespace {

constexpr std::int32_t kBytes = 256;

// A distinct piece, as its tokens so far.
struct Word {
    std::vector<std::int32_t> tokens;
    std::int64_t count = 0;  // how often the texts have it
};

std::vector<Word> count_words(std::span<const std::string_view> documents) {
    std::array<std::int32_t, kBytes> id_of_byte{};
    const auto order = bytes_in_alphabet_order();
    for (std::int32_t id = 0; id < kBytes; ++id) id_of_byte[order[id]] = id;

    std::unordered_map<std::string_view, std::int64_t> counts;
    for (const std::string_view document : documents)
        for_each_piece(document, [&](std::string_view piece) { ++counts[piece]; });
    std::vector<Word> words;
    words.reserve(counts.size());
    for (const auto& [piece, count] : counts) {
        if (piece.size() < 2) continue;
        Word word{{}, count};
        word.tokens.reserve(piece.size());
        for (const char c : piece) word.tokens.push_back(id_of_byte[static_cast<unsigned char>(c)]);
        words.push_back(std::move(word));
    }
    return words;
}

// How often each pair of adjacent tokens occurs, kept up to date through the merges.
class PairCounts {
 public:
    explicit PairCounts(std::vector<Word> words) : words_(std::move(words)) {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const Word& word = words_[w];
            for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i)
                add(word.tokens[i], word.tokens[i + 1], word.count, w);
        }
        queue_grown();
    }

    // The most frequent pair; of equals, the smallest. False where no pair is left.
    bool most_frequent(std::uint64_t& pair) {
        while (!queue_.empty()) {
            const Candidate top = queue_.top();
            queue_.pop();
            const std::int64_t now = pairs_[top.index].count;
            pair = top.pair;
            if (now == top.count) return true;
            if (now > 0) queue_.push({now, top.pair, top.index});  // counts sink unseen, and are put right here
        }
        return false;
    }

    // Makes `result` of every occurrence of the pair, left to right in each word.
    void merge(std::uint64_t pair, std::int32_t result) {
        std::vector<std::uint32_t> where;
        where.swap(pairs_[index_.find(pair)].words);
        for (const std::uint32_t w : where) merge_in(w, pair, result);
        pairs_[index_.find(pair)].count = 0;
        queue_grown();
    }

 private:
    struct Pair {
        std::uint64_t tokens = 0;
        std::int64_t count = 0;
        std::vector<std::uint32_t> words;  // all that have the pair, and some that had it
        bool grown = false;                // since it last entered the queue
    };
    struct Candidate {
        std::int64_t count;
        std::uint64_t pair;
        std::int32_t index;
        bool operator<(const Candidate& other) const {
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };

    void add(std::int32_t left, std::int32_t right, std::int64_t count, std::size_t w) {
        const std::uint64_t tokens = token_pair(left, right);
        const std::int32_t index = index_.insert(tokens, static_cast<std::int32_t>(pairs_.size()));
        if (index == static_cast<std::int32_t>(pairs_.size())) pairs_.push_back({tokens, 0, {}, false});
        Pair& pair = pairs_[index];
        pair.count += count;
        if (pair.words.empty() || pair.words.back() != w) pair.words.push_back(static_cast<std::uint32_t>(w));
        if (!pair.grown) grown_.push_back(index);
        pair.grown = true;
    }

    void take(std::int32_t left, std::int32_t right, std::int64_t count) {
        pairs_[index_.find(token_pair(left, right))].count -= count;
    }

    void merge_in(std::uint32_t w, std::uint64_t pair, std::int32_t result) {
        Word& word = words_[w];
        std::vector<std::int32_t>& tokens = word.tokens;
        std::size_t kept = 0;  // tokens[0, kept) is merged already
        for (std::size_t i = 0; i < tokens.size(); ++i, ++kept) {
            const bool here = i + 1 < tokens.size() && token_pair(tokens[i], tokens[i + 1]) == pair;
            if (!here) {
                tokens[kept] = tokens[i];
                continue;
            }
            if (kept > 0) {
                take(tokens[kept - 1], tokens[i], word.count);
                add(tokens[kept - 1], result, word.count, w);
            }
            if (i + 2 < tokens.size()) {
                take(tokens[i + 1], tokens[i + 2], word.count);
                add(result, tokens[i + 2], word.count, w);
            }
            tokens[kept] = result;
            ++i;
        }
        tokens.resize(kept);
    }

    void queue_grown() {
        for (const std::int32_t index : grown_) {
            Pair& pair = pairs_[index];
            pair.grown = false;
            if (pair.count > 0) queue_.push({pair.count, pair.tokens, index});
        }
        grown_.clear();
    }

    std::vector<Word> words_;
    PairMap index_;
    std::vector<Pair> pairs_;
    std::vector<std::int32_t> grown_;
    std::priority_queue<Candidate> queue_;
};

}  // namespace

BpeVocabulary train_bpe_vocabulary(std::span<const std::string_view> documents, std::int32_t vocab) {
    if (vocab < kBytes + 1)
        throw Error(ErrorKind::config, fmt::format("a vocabulary of {} entries", vocab),
                    fmt::format("the 256 bytes and the end of a document need {}", kBytes + 1));
    BpeVocabulary vocabulary;
    for (const unsigned char byte : bytes_in_alphabet_order())
        vocabulary.tokens.emplace_back(1, static_cast<char>(byte));

    PairCounts counts(count_words(documents));
    for (std::int32_t id = kBytes; id < vocab - 1; ++id) {
        std::uint64_t pair = 0;
        if (!counts.most_frequent(pair))
            throw Error(ErrorKind::config,
                        fmt::format("the text gives a vocabulary of {} entries, not {}", id + 1, vocab),
                        "ask for fewer entries or give more text");
        const auto left = static_cast<std::int32_t>(pair >> 32), right = static_cast<std::int32_t>(pair);
        vocabulary.tokens.push_back(vocabulary.tokens[left] + vocabulary.tokens[right]);
        vocabulary.merges.push_back({left, right, id});
        counts.merge(pair, id);
    }
    vocabulary.end_of_document = vocab - 1;
    vocabulary.tokens.emplace_back();
    return vocabulary;
}

Bpe train_bpe(std::span<const std::string_view> documents, std::int32_t vocab) {
    return Bpe(train_bpe_vocabulary(documents, vocab));
}

}  // namespace deft::engine
