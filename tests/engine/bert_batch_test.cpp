// Batches of BERT samples: padding, packing, and that neither depends on how a batch is split.

#include "engine/data/bert/batch.h"

#include <numeric>
#include <random>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;
using kernels::kIgnoreTarget;

namespace {

BertSamples random_samples(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    SentenceCorpus corpus = corpus_of_lengths(random_lengths(random, 40));
    const auto words = static_cast<int>(corpus.tokens.size) + 1;
    return BertSamples(std::move(corpus), numbered_vocabulary(words, 0), {.seqlen = 48}, {}, seed);
}

std::vector<BertDraw> some_draws(const BertSamples& samples, std::mt19937_64& random, int count) {
    std::vector<BertDraw> draws(static_cast<std::size_t>(count));
    for (BertDraw& draw : draws)
        draw = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(samples.size())), random() % 3};
    return draws;
}

Ids part(const Ids& ids, std::int64_t begin, std::int64_t length) {
    return {ids.begin() + begin, ids.begin() + begin + length};
}

// That every draw is in the batch once, unchanged, with its positions, and that nothing else is.
void check_holds(const BertBatch& batch, BertReader& reader, const std::vector<BertDraw>& draws, std::int64_t length) {
    REQUIRE(batch.places.size() == draws.size());
    std::vector<int> times(draws.size());
    std::int64_t real = 0;
    for (std::size_t p = 0; p < batch.places.size(); ++p) {
        const BertPlace& place = batch.places[p];
        const auto draw = static_cast<std::size_t>(place.draw);
        ++times[draw];
        const BertSample& sample = reader.read(draws[draw], length);
        REQUIRE(place.length == sample.length());
        REQUIRE(place.order == sample.order);
        REQUIRE(place.begin + place.length <= batch.seqlen);
        const std::int64_t begin = place.row * batch.seqlen + place.begin;
        REQUIRE(part(batch.tokens, begin, place.length) == sample.tokens);
        REQUIRE(part(batch.types, begin, place.length) == sample.types);
        REQUIRE(part(batch.labels, begin, place.length) == sample.labels);
        Ids counting(static_cast<std::size_t>(place.length));
        std::iota(counting.begin(), counting.end(), 0);
        REQUIRE(part(batch.position, begin, place.length) == counting);
        REQUIRE(part(batch.place, begin, place.length) == Ids(counting.size(), static_cast<std::int32_t>(p)));
        real += place.length;
    }
    REQUIRE(times == std::vector<int>(draws.size(), 1));
    std::int64_t padding = 0;
    for (std::size_t t = 0; t < batch.tokens.size(); ++t) {
        if (batch.place[t] >= 0) continue;
        ++padding;
        REQUIRE(batch.tokens[t] == kPad);
        REQUIRE(batch.types[t] == 0);
        REQUIRE(batch.labels[t] == kIgnoreTarget);
    }
    REQUIRE(padding + real == batch.rows * batch.seqlen);
}

}  // namespace

TEST_CASE("a row is as long as the longest sample, rounded up where asked") {
    const std::vector<std::int64_t> lengths = {7, 17, 3};
    CHECK(row_length(lengths, 1, 512) == 17);
    CHECK(row_length(lengths, 8, 512) == 24);
    CHECK(row_length(lengths, 8, 20) == 20);
    CHECK(row_length({}, 8, 20) == 0);
}

TEST_CASE("padded batches hold each sample at the left of its row") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const BertSamples samples = random_samples(seed);
    BertReader reader(samples);
    std::mt19937_64 random(seed);
    BertBatch batch;
    for (int round = 0; round < 20; ++round) {
        const std::vector<BertDraw> draws = some_draws(samples, random, 1 + static_cast<int>(random() % 16));
        const auto length = static_cast<std::int64_t>(5 + random() % 44);
        const std::vector<std::int64_t> lengths = cut_lengths(samples, draws, length);
        fill_batch(reader, draws, length, one_a_row(lengths), row_length(lengths, 8, 48), batch);
        REQUIRE(batch.rows == static_cast<std::int64_t>(draws.size()));
        check_holds(batch, reader, draws, length);
        for (std::size_t p = 0; p < draws.size(); ++p) {
            REQUIRE(batch.places[p].row == static_cast<std::int64_t>(p));
            REQUIRE(batch.places[p].begin == 0);
        }
    }
}

TEST_CASE("packing by hand: the longest first, each where it first fits") {
    const std::vector<std::int64_t> lengths = {3, 6, 4, 7, 2, 10};
    const std::vector<BertPlace> places = packed(lengths, 10);
    std::vector<std::vector<std::int64_t>> found;
    for (const BertPlace& place : places) found.push_back({place.row, place.begin, place.draw});
    CHECK(found ==
          std::vector<std::vector<std::int64_t>>{{0, 0, 5}, {1, 0, 3}, {1, 7, 0}, {2, 0, 1}, {2, 6, 2}, {3, 0, 4}});
    CHECK(packed({}, 10).empty());
    CHECK_THROWS_AS(packed(std::vector<std::int64_t>{11}, 10), Error);
}

TEST_CASE("packed batches lose nothing and mix nothing") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const BertSamples samples = random_samples(seed);
    BertReader reader(samples);
    std::mt19937_64 random(seed);
    BertBatch batch;
    for (int round = 0; round < 20; ++round) {
        const std::vector<BertDraw> draws = some_draws(samples, random, 1 + static_cast<int>(random() % 30));
        const auto length = static_cast<std::int64_t>(5 + random() % 44);
        const std::vector<std::int64_t> lengths = cut_lengths(samples, draws, length);
        fill_batch(reader, draws, length, packed(lengths, 96), 96, batch);
        check_holds(batch, reader, draws, length);
        const std::int64_t real = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        // First fit never opens a row while two are half empty.
        REQUIRE((batch.rows <= 1 || batch.rows * 96 <= 2 * real + 96));
    }
}

TEST_CASE("a sample is the same in any batch and any split of it") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    const BertSamples samples = random_samples(seed);
    std::mt19937_64 random(seed);
    const std::vector<BertDraw> draws = some_draws(samples, random, 24);
    BertReader reader(samples);
    BertBatch whole;
    fill_batch(reader, draws, 40, one_a_row(cut_lengths(samples, draws, 40)), 40, whole);
    for (const std::size_t size : {1, 5, 12}) {
        Ids tokens, labels;
        for (std::size_t first = 0; first < draws.size(); first += size) {
            BertReader own(samples);  // as another rank has
            const std::span<const BertDraw> some =
                std::span(draws).subspan(first, std::min(size, draws.size() - first));
            BertBatch batch;
            fill_batch(own, some, 40, one_a_row(cut_lengths(samples, some, 40)), 40, batch);
            tokens.insert(tokens.end(), batch.tokens.begin(), batch.tokens.end());
            labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
        }
        CHECK(tokens == whole.tokens);
        CHECK(labels == whole.labels);
    }
}

TEST_CASE("a batch refuses places that do not fit its samples") {
    const BertSamples samples = random_samples(1);
    BertReader reader(samples);
    const std::vector<BertDraw> draws = {{0, 0}};
    BertBatch batch;
    std::vector<BertPlace> places = one_a_row(cut_lengths(samples, draws, 48));
    CHECK_THROWS_AS(fill_batch(reader, draws, 48, places, places[0].length - 1, batch), Error);
    ++places[0].length;
    CHECK_THROWS_AS(fill_batch(reader, draws, 48, places, 60, batch), Error);
}
