// BERT's samples: borders, pairs and their order, truncation, and what they depend on.

#include "engine/data/bert/samples.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "engine/data/bert/classification_row.h"
#include "tests/engine/bert_corpus.h"
#include "tests/golden.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;
using kernels::kIgnoreTarget;

namespace {

using Starts = std::vector<std::int64_t>;

BertSamples samples_of(const std::vector<std::vector<int>>& lengths, const SampleShape& shape, std::uint64_t seed = 1) {
    SentenceCorpus corpus = corpus_of_lengths(lengths);
    const auto words = static_cast<int>(corpus.tokens.size) + 1;
    return BertSamples(std::move(corpus), numbered_vocabulary(words, 0), shape, {}, seed);
}

// The text of segment 0 or 1, special tokens left out.
Ids segment(const BertSample& sample, std::int32_t type) {
    Ids text;
    for (std::size_t t = 0; t < sample.tokens.size(); ++t)
        if (sample.types[t] == type && sample.tokens[t] != kCls && sample.tokens[t] != kSep)
            text.push_back(sample.tokens[t]);
    return text;
}

bool counts_up(const Ids& text) {
    for (std::size_t t = 1; t < text.size(); ++t)
        if (text[t] != text[t - 1] + 1) return false;
    return true;
}

Ids sorted(std::span<const std::int32_t> tokens) {
    Ids ids(tokens.begin(), tokens.end());
    std::sort(ids.begin(), ids.end());
    return ids;
}

Ids whole(const BertSamples& samples, std::int64_t sample) {
    Ids tokens;
    samples.write_whole(sample, tokens);
    return tokens;
}

}  // namespace

TEST_CASE("samples are whole sentences, as many as fit, and none is left alone that need not be", "[bare]") {
    const SampleShape shape{.seqlen = 13, .short_probability = 0};  // room for 10 tokens, sentences of 5 at most
    const auto starts = [&](const std::vector<std::vector<int>>& lengths) {
        return index_samples(corpus_of_lengths(lengths), shape, 1).sample_start;
    };
    CHECK(starts({{4, 4, 3, 4, 2, 4, 4}}) == Starts{0, 2, 5, 7});    // 4 4 | 3 4 2 | 4 4
    CHECK(starts({{3, 3, 3, 3}}) == Starts{0, 2, 4});                // three fit, but one would be left
    CHECK(starts({{3, 3, 3, 1}}) == Starts{0, 4});                   // it fits
    CHECK(starts({{5, 5, 5}}) == Starts{0, 2, 3});                   // two that fit none beside them
    CHECK(starts({{4, 4}, {}, {2}, {1, 1}}) == Starts{0, 2, 3, 5});  // documents never mix
    CHECK(starts({}) == Starts{0});
    CHECK(starts({{}, {}}) == Starts{0});
}

TEST_CASE("a sentence that is too long becomes several that are about equal", "[bare]") {
    const SampleIndex index =
        index_samples(corpus_of_lengths({{2, 11}, {16}}), {.seqlen = 13, .short_probability = 0}, 1);
    CHECK(index.sentence_start == Starts{0, 2, 5, 9, 13, 17, 21, 25, 29});
    const SampleIndex single =
        index_samples(corpus_of_lengths({{2, 11}}), {.seqlen = 12, .pairs = false, .short_probability = 0}, 1);
    CHECK(single.sentence_start == Starts{0, 2, 7, 13});
    CHECK(single.sample_start == Starts{0, 2, 3});  // of 7 and 6 tokens
}

TEST_CASE("every token of a corpus lies in one sample, and no sample is longer than it may be", "[bare]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 200; ++round) {
        const auto lengths = random_lengths(random, 20);
        const SampleShape shape{.seqlen = 5 + static_cast<std::int64_t>(random() % 60),
                                .pairs = random() % 2 == 0,
                                .short_probability = round % 3 == 0 ? 0.5 : 0.1};
        const SentenceCorpus corpus = corpus_of_lengths(lengths);
        const SampleIndex index = index_samples(corpus, shape, seed);
        std::int64_t tokens = 0, alone = 0, of_many = 0;
        for (std::int64_t i = 0; i < index.samples(); ++i) {
            REQUIRE(index.first_token(i) == tokens);
            REQUIRE(index.tokens_of(i) > 0);
            REQUIRE(index.tokens_of(i) <= shape.room());
            tokens += index.tokens_of(i);
            alone += index.sentences_of(i) == 1;
            of_many += index.sentences_of(i) > 1;
        }
        REQUIRE(tokens == corpus.tokens.size);
        // In no document is more than its last sentence alone.
        if (shape.pairs) REQUIRE(alone <= static_cast<std::int64_t>(lengths.size()));
        if (shape.pairs && shape.room() >= 40) REQUIRE(of_many > 0);
    }
}

TEST_CASE("about one sample in ten is short, of lengths drawn evenly", "[bare]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const std::vector<std::vector<int>> one_long_document = {std::vector<int>(200'000, 1)};
    const SampleIndex index = index_samples(corpus_of_lengths(one_long_document), {.seqlen = 67}, seed);  // room 64
    double shorter = 0, below_half = 0;
    for (std::int64_t i = 0; i + 1 < index.samples(); ++i) {
        shorter += index.tokens_of(i) < 64;
        below_half += index.tokens_of(i) <= 32;
    }
    const auto n = static_cast<double>(index.samples());
    const auto near = [&](double count, double p) { return std::abs(count - n * p) < 6 * std::sqrt(n * p * (1 - p)); };
    CHECK(near(shorter, 0.1 * 62 / 63));  // 2 .. 64, of which 64 is not short
    CHECK(near(below_half, 0.1 * 31 / 63));
}

TEST_CASE("a pair by hand: sentences of 2 and 3 tokens have one border, in either order", "[bare]") {
    const BertSamples samples = samples_of({{2, 3}}, {.seqlen = 16, .short_probability = 0});
    REQUIRE(samples.size() == 1);
    CHECK(samples.real_length(0) == 8);
    int swapped = 0;
    for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
        BertSample sample;
        samples.write_unmasked({0, epoch}, 16, sample);
        const bool in_order = sample.order == kInOrder;
        CHECK(sample.tokens ==
              (in_order ? Ids{kCls, 5, 6, kSep, 7, 8, 9, kSep} : Ids{kCls, 7, 8, 9, kSep, 5, 6, kSep}));
        CHECK(sample.types == (in_order ? Ids{0, 0, 0, 0, 1, 1, 1, 1} : Ids{0, 0, 0, 0, 0, 1, 1, 1}));
        swapped += sample.order == kSwapped;
    }
    CHECK(std::abs(swapped - 100) < 6 * std::sqrt(50.0));
}

TEST_CASE("pairs are two runs of sentences that touch, and every border comes up", "[bare]") {
    const BertSamples samples = samples_of({{1, 2, 3, 4}}, {.seqlen = 16, .short_probability = 0});
    std::vector<int> borders(4);
    for (std::uint64_t epoch = 0; epoch < 300; ++epoch) {
        BertSample sample;
        samples.write_unmasked({0, epoch}, 16, sample);
        Ids first = segment(sample, 0), second = segment(sample, 1);
        if (sample.order == kSwapped) first.swap(second);
        CHECK((first.size() == 1 || first.size() == 3 || first.size() == 6));
        ++borders[first.size() / 2];
        first.insert(first.end(), second.begin(), second.end());
        REQUIRE(first.size() == 10);
        CHECK(counts_up(first));
    }
    CHECK(borders[0] > 50);
    CHECK(borders[1] > 50);
    CHECK(borders[3] > 50);
}

TEST_CASE("one sentence, or single segments, have no order to predict", "[bare]") {
    const BertSamples lone = samples_of({{4}}, {.seqlen = 16});
    BertReader reader(lone);
    const BertSample& sample = reader.read({0, 0}, 16);
    CHECK(sample.length() == 6);
    CHECK(lone.real_length(0) == 6);
    CHECK(sample.order == kIgnoreTarget);
    CHECK(sample.types == Ids(6, 0));
    const BertSamples single = samples_of({{2, 3}}, {.seqlen = 16, .pairs = false, .short_probability = 0});
    CHECK(sorted(whole(single, 0)) == Ids{kCls, kSep, 5, 6, 7, 8, 9});
    CHECK(samples_of({{}, {}}, {.seqlen = 16}).size() == 0);
}

TEST_CASE("segments are cut as one token at a time from the longer would be", "[bare]") {
    for (std::int64_t first = 1; first < 14; ++first) {
        for (std::int64_t second = 0; second < 14; ++second) {
            for (std::int64_t room = 2; room < 30; ++room) {
                std::int64_t a = first, b = second, expected_a = first, expected_b = second;
                while (expected_a + expected_b > room) --(expected_a > expected_b ? expected_a : expected_b);
                cut_segments(a, b, room);
                REQUIRE(a == expected_a);
                REQUIRE(b == expected_b);
            }
        }
    }
}

TEST_CASE("a shorter length keeps every [SEP], both segments, the order and a masked token", "[bare]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const BertSamples samples = samples_of(random_lengths(random, 60), {.seqlen = 48}, seed);
    BertReader reader(samples);
    for (std::int64_t i = 0; i < samples.size(); ++i) {
        const BertDraw draw{i, random() % 5};
        BertSample whole;
        samples.write_unmasked(draw, 48, whole);
        REQUIRE(whole.length() == samples.real_length(i));
        for (const std::int64_t length :
             {std::int64_t{5}, std::int64_t{6}, static_cast<std::int64_t>(5 + random() % 44)}) {
            INFO("sample " << i << " epoch " << draw.epoch << " cut to " << length);
            BertSample cut;
            samples.write_unmasked(draw, length, cut);
            const std::int64_t segments = whole.order == kIgnoreTarget ? 1 : 2;
            REQUIRE(cut.length() == std::min(whole.length(), length));
            REQUIRE(std::count(cut.tokens.begin(), cut.tokens.end(), kSep) == segments);
            REQUIRE(cut.tokens.back() == kSep);
            REQUIRE(cut.types.back() == segments - 1);
            REQUIRE(cut.order == whole.order);
            for (std::int32_t type = 0; type < segments; ++type) {
                const Ids text = segment(cut, type), all = segment(whole, type);
                REQUIRE(!text.empty());
                REQUIRE(std::equal(text.begin(), text.end(), all.begin()));
            }
            const BertSample& masked = reader.read(draw, length);
            REQUIRE(masked.labels.size() == masked.tokens.size());
            std::int64_t chosen = 0;
            for (std::size_t t = 0; t < masked.labels.size(); ++t) {
                if (masked.labels[t] == kIgnoreTarget) continue;
                ++chosen;
                REQUIRE(masked.labels[t] == cut.tokens[t]);
            }
            const double text = static_cast<double>(cut.length() - segments - 1);
            REQUIRE(chosen == std::max(1.0, std::floor(0.15 * text + 0.5)));
        }
    }
}

TEST_CASE("samples depend on seed, epoch and id alone", "[bare]") {
    std::mt19937_64 random(3);
    const auto lengths = random_lengths(random, 30);
    const BertSamples one = samples_of(lengths, {.seqlen = 40}, 7), again = samples_of(lengths, {.seqlen = 40}, 7);
    BertReader forward(one), backward(again);
    std::vector<BertSample> read;
    for (std::int64_t i = 0; i < one.size(); ++i) read.push_back(forward.read({i, 4}, 40));
    std::int64_t other_epoch = 0;
    for (std::int64_t i = one.size() - 1; i >= 0; --i) {
        const BertSample& sample = backward.read({i, 4}, 40);
        CHECK(sample.tokens == read[static_cast<std::size_t>(i)].tokens);
        CHECK(sample.labels == read[static_cast<std::size_t>(i)].labels);
        CHECK(sample.order == read[static_cast<std::size_t>(i)].order);
        other_epoch += backward.read({i, 5}, 40).tokens != read[static_cast<std::size_t>(i)].tokens;
    }
    CHECK(other_epoch > one.size() * 3 / 4);
}

TEST_CASE("metrics read whole unmasked samples, the same tokens in every epoch", "[bare]") {
    std::mt19937_64 random(4);
    const BertSamples samples = samples_of(random_lengths(random, 30), {.seqlen = 40});
    for (std::int64_t i = 0; i < samples.size(); ++i) {
        const Ids tokens = sorted(whole(samples, i));
        REQUIRE(static_cast<std::int64_t>(tokens.size()) == samples.real_length(i));
        BertSample sample;
        samples.write_unmasked({i, 9}, 40, sample);
        REQUIRE(sorted(sample.tokens) == tokens);
    }
}

TEST_CASE("lengths without text, foreign tokens and unknown samples are refused", "[bare]") {
    CHECK_THROWS_WITH(samples_of({{2, 3}}, {.seqlen = 4}), ContainsSubstring("give a seqlen of 5 or more"));
    CHECK_THROWS_WITH(samples_of({{2, 3}}, {.seqlen = 2, .pairs = false}), ContainsSubstring("of 3 or more"));
    CHECK_THROWS_WITH(BertSamples(corpus_of_lengths({{2, 3}}), numbered_vocabulary(3, 0), {}, {}, 1),
                      ContainsSubstring("the corpus has tokens 5 to 9"));
    const BertSamples samples = samples_of({{2, 3}}, {.seqlen = 16});
    BertReader reader(samples);
    for (const std::int64_t length : {-1, 0, 2, 3, 4})
        CHECK_THROWS_WITH(reader.read({0, 0}, length), ContainsSubstring("give a length of 5 or more"));
    CHECK(reader.read({0, 0}, 5).length() == 5);
    CHECK_THROWS_AS(reader.read({1, 0}, 16), Error);
    CHECK_THROWS_AS(reader.read({-1, 0}, 16), Error);
}

TEST_CASE("rows to classify are the golden ones", "[bare]") {
    const std::vector<Json> cases = golden::read_lines("bert_pairs.jsonl"),
                            rows = golden::read_lines("glue_rows.jsonl");
    constexpr const char* kBert = "tokenizers/bert-base-uncased";
    if (cases.empty() || rows.empty() || !golden::has_data(kBert)) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    const auto wordpiece = load_wordpiece(golden::mirror() / kBert);
    const auto row_of = [&](const Json& a, const Json& b, std::int64_t longest) {
        const Ids first = wordpiece->encode(a.get<std::string>());
        if (b.is_null()) return classification_row(first, std::nullopt, wordpiece->vocabulary(), longest);
        const Ids second = wordpiece->encode(b.get<std::string>());
        return classification_row(first, second, wordpiece->vocabulary(), longest);
    };
    for (const Json& c : cases) {
        INFO(c.dump());
        for (const char* clean : {"", "clean_"}) {
            BertSample row = row_of(c.at(clean + std::string("a")), c.at(clean + std::string("b")), c.at("max_len"));
            Ids mask(row.tokens.size(), 1);
            for (Ids* ids : {&row.tokens, &row.types, &mask}) ids->resize(c.at("max_len").get<std::size_t>(), 0);
            CHECK(Json(row.tokens) == c.at("ids"));
            CHECK(Json(row.types) == c.at("types"));
            CHECK(Json(mask) == c.at("mask"));
        }
    }
    for (const Json& c : rows) {
        INFO(c.dump());
        const BertSample row = row_of(c.at("text_a"), c.at("text_b"), 512);
        CHECK(Json(row.tokens) == c.at("ids"));
        CHECK(Json(row.types) == c.at("types"));
    }
    CHECK_THROWS_AS(classification_row({}, std::nullopt, wordpiece->vocabulary(), 1), Error);
}
