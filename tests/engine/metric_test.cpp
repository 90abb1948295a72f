// Difficulty metrics by hand.

#include "engine/data_efficiency/sampling/metric.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

using namespace deft::engine;
using deft::Error;

namespace {

// Samples of at most four tokens, one of them empty.
SampleSource short_samples() {
    return {4, 4, 5, "by hand", [](std::int64_t sample, std::vector<std::int32_t>& scratch) -> TokenSpan {
                const std::vector<std::vector<std::int32_t>> samples = {{1, 1, 2}, {3}, {1, 1, 1, 1}, {}};
                scratch = samples[static_cast<std::size_t>(sample)];
                return {scratch.data(), static_cast<std::int64_t>(scratch.size()), 4};
            }};
}

std::vector<std::int64_t> short_values(const std::string& metric) {
    return metric_values(short_samples(), built_in_metric(metric));
}

}  // namespace

// Among the eight real tokens: 1 six times, 2 and 3 once each; 0 and 4 never, which counts as once: ten in all.
// -ln p: of 1 is ln(10/6) = 0.51083, of 2 and 3 ln 10 = 2.30259. Sums: 3.32425, 2.30259, 2.04330, 0.
TEST_CASE("metrics of samples of many lengths, by hand: voc, voc per token, ttr, seqlen, seqreo_voc") {
    CHECK(short_values("voc") == std::vector<std::int64_t>{3, 2, 2, 0});
    CHECK(short_values("voc_per_token") == std::vector<std::int64_t>{1108, 2302, 510, 0});
    CHECK(short_values("ttr") == std::vector<std::int64_t>{666, 1000, 250, 0});
    CHECK(short_values("seqlen") == std::vector<std::int64_t>{3, 1, 4, 0});
    // The longest, 4, x 2.30259 = 9.2: the next power of ten is 10, and the weight ten times that.
    CHECK(short_values("seqreo_voc") == std::vector<std::int64_t>{303, 102, 402, 0});
}

TEST_CASE("seqreo_voc orders by length, then by rarity, whatever the samples", "[reference-defect]") {
    const std::vector<std::uint64_t> count = {1'000'000'000, 1, 0, 7};
    for (const std::int64_t length : {1, 2, 512, 100'000}) {
        const TokenRarity rarity = token_rarity(count, length);
        // The rarest sample of a length stays below the commonest of the next: length x ln(1e9) < C.
        CHECK(static_cast<double>(length) * std::log(1e9) * 10 <= static_cast<double>(rarity.length_weight));
        CHECK(static_cast<double>(length) * std::log(1e9) * 100.001 > static_cast<double>(rarity.length_weight));
    }
    CHECK_THROWS_WITH(token_rarity(count, std::numeric_limits<std::int32_t>::max() - 1),
                      ContainsSubstring("seqreo_voc"));
}

TEST_CASE("rarity in fixed point is within half a unit of the logarithm") {
    const std::vector<std::uint64_t> count = {1, 2, 3, 1ULL << 40, 12345, 0};
    const TokenRarity rarity = token_rarity(count, 8);
    const double total = 1 + 2 + 3 + std::ldexp(1, 40) + 12345 + 1;
    for (std::size_t v = 0; v < count.size(); ++v) {
        const double nats = std::log(total / static_cast<double>(std::max<std::uint64_t>(1, count[v])));
        CHECK(std::abs(rarity.nats[v] - std::ldexp(nats, kNatBits)) <= 0.5001);
    }
    // The rarest that 64 bits can count still fits 32 bits.
    const TokenRarity extreme = token_rarity(std::vector<std::uint64_t>{1ULL << 62, 0}, 8);
    CHECK(std::abs(extreme.nats[1] - std::ldexp(62 * std::log(2.0), kNatBits)) <= 1);
}

TEST_CASE("two- and four-byte tokens of one text have the same rarity") {
    const std::vector<std::uint16_t> narrow = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    const std::vector<std::int32_t> wide(narrow.begin(), narrow.end());
    TokenCorpus a = corpus_of_tokens(wide), b;
    b.tokens = {narrow.data(), 9, 2};
    for (const Metric& metric : built_in_metrics())
        CHECK(metric_values(packed_samples(a, 4, 10), metric) == metric_values(packed_samples(b, 4, 10), metric));
}

TEST_CASE("a token outside the vocabulary is named, of two bytes and of four") {
    const std::vector<std::uint16_t> narrow = {3, 1, 400, 1, 5};
    TokenCorpus corpus;
    corpus.tokens = {narrow.data(), 5, 2};
    const Metric voc = built_in_metric("voc");
    CHECK_THROWS_WITH(metric_values(packed_samples(corpus, 4, 10), voc),
                      ContainsSubstring("token 400") && ContainsSubstring("0 to 9"));
    for (const std::int32_t bad : {10, -1, std::numeric_limits<std::int32_t>::max()})
        CHECK_THROWS_WITH(metric_values(packed_samples(corpus_of_tokens({1, 2, bad, 3, 4}), 4, 10), voc),
                          ContainsSubstring("token " + std::to_string(bad)));
}

TEST_CASE("samples beyond the 2^31st token are found") {
    const deft::test::TemporaryFolder folder;
    const std::int64_t tokens = (std::int64_t{1} << 32) + 1;  // a sparse file: it takes no space
    deft::test::write_text(folder / "t", "");
    REQUIRE(::truncate((folder / "t").c_str(), tokens * 2) == 0);
    const int file = ::open((folder / "t").c_str(), O_WRONLY);
    const std::uint16_t last[2] = {7, 9};
    REQUIRE(::pwrite(file, last, sizeof last, (tokens - 2) * 2) == 4);
    ::close(file);
    const auto mapped = std::make_shared<const deft::MappedFile>(folder / "t");
    TokenCorpus corpus;
    corpus.tokens = {mapped->bytes().data(), tokens, 2};
    const SampleSource source = packed_samples(corpus, 1024, 10);
    CHECK(source.samples == std::int64_t{1} << 22);
    std::vector<std::int32_t> scratch;
    const TokenSpan sample = source.tokens(source.samples - 1, scratch);
    CHECK(sample.size == 1025);
    CHECK(sample[1023] == 7);
    CHECK(sample[1024] == 9);
}

TEST_CASE("an unknown metric is refused with those that there are") {
    CHECK_THROWS_WITH(built_in_metric("vok"), ContainsSubstring("did you mean voc?"));
    CHECK_THROWS_WITH(built_in_metric("rarest"), ContainsSubstring("seqreo_voc"));
    CHECK(is_built_in_metric("seqlen"));
    CHECK_FALSE(is_built_in_metric("seqtru"));
}
