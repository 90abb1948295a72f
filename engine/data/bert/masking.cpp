#include "engine/data/bert/masking.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "kernels/philox.h"
#include "kernels/types.h"

namespace deft::engine {

namespace {

kernels::PhiloxBlock draw(const MaskingKey& key, std::int64_t position) {
    return kernels::philox_block(key.seed, kernels::RandomPurpose::masked_tokens, key.epoch, 0,
                                 static_cast<std::uint64_t>(key.sample), static_cast<std::uint32_t>(position));
}

}  // namespace

void check_masking(const MaskingRule& rule) {
    const auto is_share = [](double share) { return share >= 0 && share <= 1; };
    if (!is_share(rule.fraction) || !is_share(rule.mask) || !is_share(rule.random) ||
        rule.mask + rule.random > 1 + 1e-9)
        throw Error(ErrorKind::config, "the shares of masking are no shares",
                    "give fraction, mask and random from 0 to 1, mask and random together at most 1");
}

Masking::Masking(std::shared_ptr<const WordPiece> wordpiece, const MaskingRule& rule)
    : wordpiece_(std::move(wordpiece)), rule_(rule) {
    check_masking(rule);
    const WordPieceVocabulary& v = wordpiece_->vocabulary();
    special_ = {v.pad, v.unk, v.cls, v.sep, v.mask};
    std::sort(special_.begin(), special_.end());
    if (wordpiece_->vocab() == static_cast<std::int32_t>(special_.size()))
        throw Error(ErrorKind::config, "the vocabulary has no token but the special ones", "is this vocab.txt whole?");
}

bool Masking::is_maskable(std::int32_t token) const {
    const WordPieceVocabulary& v = wordpiece_->vocabulary();
    return token != v.pad && token != v.cls && token != v.sep && token != v.mask;
}

std::int64_t Masking::find_words(std::span<const std::int32_t> tokens, const MaskingKey& key) {
    words_.clear();
    std::int64_t count = 0;
    bool goes_on = false;  // a word that the next token may continue
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(tokens.size()); ++t) {
        const std::int32_t token = tokens[static_cast<std::size_t>(t)];
        if (!is_maskable(token)) {
            goes_on = false;
            continue;
        }
        if (goes_on && rule_.whole_words && wordpiece_->continues_word(token))
            ++words_.back().end;
        else
            words_.push_back({draw(key, t).word[0], t, t + 1});
        goes_on = true;
        ++count;
    }
    return count;
}

std::int32_t Masking::replacement(std::int32_t token, std::int64_t position, const MaskingKey& key) const {
    const kernels::PhiloxBlock block = draw(key, position);
    const double choice = kernels::philox_uniform(block.word[1]);
    if (choice < rule_.mask) return wordpiece_->vocabulary().mask;
    if (choice >= rule_.mask + rule_.random) return token;
    const std::uint64_t ordinary = static_cast<std::uint64_t>(wordpiece_->vocab()) - special_.size();
    auto id = static_cast<std::int32_t>(block.word[2] * ordinary >> 32);
    for (const std::int32_t special : special_) id += id >= special;
    return id;
}

void Masking::operator()(std::span<std::int32_t> tokens, std::span<std::int32_t> labels, const MaskingKey& key) {
    std::fill(labels.begin(), labels.end(), kernels::kIgnoreTarget);
    const std::int64_t maskable = find_words(tokens, key);
    const auto wanted = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::floor(rule_.fraction * static_cast<double>(maskable) + 0.5)));
    std::sort(words_.begin(), words_.end(),
              [](const Word& a, const Word& b) { return std::tie(a.order, a.begin) < std::tie(b.order, b.begin); });
    const auto mask_word = [&](const Word& word) {
        for (std::int32_t t = word.begin; t < word.end; ++t) {
            std::int32_t& token = tokens[static_cast<std::size_t>(t)];
            labels[static_cast<std::size_t>(t)] = token;
            token = replacement(token, t, key);
        }
    };
    std::int64_t chosen = 0;
    for (const Word& word : words_) {
        if (chosen + word.end - word.begin > wanted) continue;
        mask_word(word);
        chosen += word.end - word.begin;
        if (chosen == wanted) break;
    }
    if (chosen == 0 && !words_.empty()) mask_word(words_.front());
}

}  // namespace deft::engine
