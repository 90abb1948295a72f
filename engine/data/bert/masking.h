#pragma once
// Masked language modelling (Devlin et al. 2019, section 3.1): which tokens are hidden, and what replaces them.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

struct MaskingRule {
    double fraction = 0.15;    // of the maskable tokens
    double mask = 0.8;         // of the chosen: replaced by [MASK]
    double random = 0.1;       // of the chosen: by any token but the special ones; the rest stay as they are
    bool whole_words = false;  // a word's ## pieces are chosen together
};

// Errors: config, for shares that are none.
void check_masking(const MaskingRule& rule);

// The only inputs of the draws: neither the batch nor the caller matters.
struct MaskingKey {
    std::uint64_t seed = 0;
    std::uint64_t epoch = 0;
    std::int64_t sample = 0;  // global id
};

// One a thread.
class Masking {
 public:
    // Errors: as check_masking.
    Masking(std::shared_ptr<const WordPiece> wordpiece, const MaskingRule& rule);

    // Reserves memory for samples of `length` tokens; longer ones grow it.
    void reserve(std::size_t length) { words_.reserve(length); }

    // Replaces tokens and writes to `labels` what stood at the chosen positions, elsewhere kernels::kIgnoreTarget. Both
    // are (length).
    //
    // Maskable are all but [PAD], [CLS], [SEP] and [MASK]; [UNK] replaces a word and is. Of n of them,
    // max(1, floor(fraction x n + 1/2)) are chosen, uniformly without replacement. By whole words: words in random
    // order as long as they fit that count, or one where none fits. A sample without maskable tokens gets no label.
    void operator()(std::span<std::int32_t> tokens, std::span<std::int32_t> labels, const MaskingKey& key);

 private:
    struct Word {
        std::uint32_t order;  // random
        std::int32_t begin, end;
    };

    bool is_maskable(std::int32_t token) const;
    // Fills words_; gives the count of maskable tokens.
    std::int64_t find_words(std::span<const std::int32_t> tokens, const MaskingKey& key);
    std::int32_t replacement(std::int32_t token, std::int64_t position, const MaskingKey& key) const;

    std::shared_ptr<const WordPiece> wordpiece_;
    MaskingRule rule_;
    std::vector<std::int32_t> special_;  // ascending
    std::vector<Word> words_;
};

}  // namespace deft::engine
