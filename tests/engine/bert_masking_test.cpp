// Masked language modelling: counts, shares, whole words, and what draws depend on.

#include "engine/data/bert/masking.h"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "kernels/types.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"

using namespace deft;
using namespace deft::engine;
using kernels::kIgnoreTarget;
using namespace deft::test;

namespace {

struct Masked {
    Ids tokens, labels;

    std::int64_t count() const {
        return std::count_if(labels.begin(), labels.end(), [](std::int32_t label) { return label != kIgnoreTarget; });
    }
};

Masked mask(Masking& masking, const Ids& tokens, const MaskingKey& key) {
    Masked masked{tokens, Ids(tokens.size())};
    masking(masked.tokens, masked.labels, key);
    return masked;
}

// [CLS] text [SEP]
Ids bert_row(const Ids& text) {
    Ids row = {kCls};
    row.insert(row.end(), text.begin(), text.end());
    row.push_back(kSep);
    return row;
}

// How far a count may be from n p: 6 standard deviations, which chance exceeds once in 5e8.
double allowed(double n, double p) {
    return 6 * std::sqrt(n * p * (1 - p));
}

}  // namespace

TEST_CASE("15% of the maskable tokens are masked, rounded half up and one at least") {
    Masking masking(numbered_vocabulary(50, 0), {});
    for (const auto& [maskable, chosen] :
         std::map<int, int>{{1, 1}, {9, 1}, {10, 2}, {16, 2}, {17, 3}, {100, 15}, {509, 76}}) {
        INFO(maskable);
        CHECK(mask(masking, bert_row(Ids(static_cast<std::size_t>(maskable), kFirstWord)), {1, 2, 3}).count() ==
              chosen);
    }
    CHECK(mask(masking, {kCls, kSep, kSep, kMask, kPad}, {1, 2, 3}).count() == 0);
    CHECK(mask(masking, {kCls, kUnk, kSep}, {1, 2, 3}).count() == 1);
}

TEST_CASE("labels are the tokens that stood there, specials are never masked nor drawn") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const auto wordpiece = numbered_vocabulary(20, 10);
    Masking masking(wordpiece, {.fraction = 0.3, .whole_words = seed % 2 == 0});
    std::mt19937_64 random(seed);
    for (int i = 0; i < 500; ++i) {
        Ids tokens(1 + random() % 60);
        for (std::int32_t& token : tokens) token = static_cast<std::int32_t>(random() % 35);
        const Masked masked = mask(masking, tokens, {seed, 0, i});
        for (std::size_t t = 0; t < tokens.size(); ++t) {
            const bool special = tokens[t] < kFirstWord && tokens[t] != kUnk;
            if (masked.labels[t] == kIgnoreTarget) {
                REQUIRE(masked.tokens[t] == tokens[t]);
            } else {
                REQUIRE(!special);
                REQUIRE(masked.labels[t] == tokens[t]);
                const std::int32_t now = masked.tokens[t];
                REQUIRE((now == kMask || now == tokens[t] || now >= kFirstWord));
            }
        }
    }
}

TEST_CASE("of the chosen, 80% are [MASK], 10% random, 10% unchanged, and every position is chosen alike") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const int words = 40, length = 40, samples = 10'000;
    Masking masking(numbered_vocabulary(words, 0), {});
    const Ids tokens = bert_row(Ids(length, kFirstWord));
    double hidden = 0, kept = 0;
    std::vector<double> at(tokens.size()), drawn(words);
    for (int i = 0; i < samples; ++i) {
        const Masked masked = mask(masking, tokens, {seed, 7, i});
        for (std::size_t t = 0; t < tokens.size(); ++t) {
            if (masked.labels[t] == kIgnoreTarget) continue;
            ++at[t];
            if (masked.tokens[t] == kMask)
                ++hidden;
            else if (masked.tokens[t] == kFirstWord)
                ++kept;
            else
                ++drawn[static_cast<std::size_t>(masked.tokens[t] - kFirstWord)];
        }
    }
    const double chosen = samples * 6.0;  // floor(0.15 x 40 + 1/2)
    CHECK(std::abs(hidden - 0.8 * chosen) < allowed(chosen, 0.8));
    const double same = 0.1 + 0.1 / words;  // a random token may be the same
    CHECK(std::abs(kept - same * chosen) < allowed(chosen, same));
    for (int word = 1; word < words; ++word)
        CHECK(std::abs(drawn[static_cast<std::size_t>(word)] - 0.1 / words * chosen) < allowed(chosen, 0.1 / words));
    CHECK(at.front() == 0);
    CHECK(at.back() == 0);
    for (std::size_t t = 1; t + 1 < tokens.size(); ++t)
        CHECK(std::abs(at[t] - samples * 0.15) < allowed(samples, 0.15));
}

TEST_CASE("whole words are masked or left together") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const auto wordpiece = numbered_vocabulary(5, 5);  // words 5 .. 9, pieces 10 .. 14
    Masking masking(wordpiece, {.whole_words = true});
    // Words of 1, 3, 2, 1, 1, 4, 1, 1 and 2 pieces: 16 tokens, 2 to choose. [SEP] ends a word.
    const Ids tokens = {kCls, 5, 6, 10, 11, 7, 12, 8, 9, kSep, 13, 10, 11, 12, 5, 6, 7, 14, kSep};
    const std::vector<std::pair<int, int>> words = {{1, 2},   {2, 5},   {5, 7},   {7, 8},  {8, 9},
                                                    {10, 14}, {14, 15}, {15, 16}, {16, 18}};
    std::set<std::size_t> seen;
    for (int i = 0; i < 2000; ++i) {
        const Masked masked = mask(masking, tokens, {seed, 0, i});
        REQUIRE(masked.count() == 2);
        for (std::size_t w = 0; w < words.size(); ++w) {
            const auto begin = masked.labels.begin() + words[w].first, end = masked.labels.begin() + words[w].second;
            const auto left = std::count(begin, end, kIgnoreTarget);
            REQUIRE((left == 0 || left == end - begin));
            if (left == 0) seen.insert(w);
        }
    }
    CHECK(seen == std::set<std::size_t>{0, 2, 3, 4, 6, 7, 8});                 // those of 3 and 4 pieces never fit
    CHECK(mask(masking, {kCls, 5, 10, 11, kSep}, {seed, 0, 0}).count() == 3);  // more than its 15%, rather than none
}

TEST_CASE("masks depend on seed, epoch and sample alone") {
    const auto wordpiece = numbered_vocabulary(50, 0);
    Masking one(wordpiece, {}), other(wordpiece, {});
    const Ids tokens = bert_row(Ids(200, kFirstWord));
    const Masked masked = mask(one, tokens, {1, 2, 3});
    mask(other, bert_row(Ids(300, kFirstWord)), {9, 9, 9});
    CHECK(mask(other, tokens, {1, 2, 3}).tokens == masked.tokens);
    for (const MaskingKey& key : {MaskingKey{2, 2, 3}, MaskingKey{1, 3, 3}, MaskingKey{1, 2, 4}})
        CHECK(mask(one, tokens, key).labels != masked.labels);
}

TEST_CASE("shares of masking that are none are refused") {
    const auto wordpiece = numbered_vocabulary(5, 0);
    CHECK_THROWS_AS(Masking(wordpiece, {.fraction = 1.5}), Error);
    CHECK_THROWS_AS(Masking(wordpiece, {.mask = 0.8, .random = 0.3}), Error);
    CHECK_THROWS_AS(Masking(wordpiece, {.fraction = std::nan("")}), Error);
    CHECK_THROWS_AS(Masking(numbered_vocabulary(0, 0), {}), Error);
}
