// The analyzer's map and reduce: the same bits from any threads, shards, parts and memory, and after a kill.

#include "engine/data_efficiency/sampling/analyzer.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "engine/bench/analyzer.h"
#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
using deft::Error;
using deft::test::read_text;
using deft::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

constexpr std::int32_t kVocab = 300;

TokenCorpus random_corpus(std::int64_t tokens, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < tokens; ++i)
        ids.push_back(static_cast<std::int32_t>(random() % (1 + random() % kVocab)));
    return corpus_of_tokens(std::move(ids));
}

// Every file of an index, byte for byte.
std::string index_bytes(const fs::path& folder, const std::string& name) {
    return read_text(difficulty_value_file(folder, name)) + read_text(difficulty_order_file(folder, name));
}

// All metrics, analysed in one go.
std::string analysed(const SampleSource& source, std::int64_t part_samples, int threads, std::int64_t memory,
                     std::int64_t shards = 1) {
    const TemporaryFolder folder;
    const std::vector<Metric> metrics = built_in_metrics();
    AnalyzerOptions options{folder / "parts", {}, threads, memory, {}};
    for (int round = 0; round < 2; ++round)  // counts first, then values
        for (std::int64_t shard = 0; shard < shards; ++shard) {
            options.shard = {shard, shards};
            map_samples(source, metrics, part_samples, options);
        }
    std::string bytes;
    for (const Metric& metric : metrics) {
        reduce_parts(source.samples, metric, part_samples, options, folder.path(), metric.name);
        bytes += index_bytes(folder.path(), metric.name);
    }
    return bytes;
}

}  // namespace

TEST_CASE("analysis: any parts, threads, shards and memory give the bits of one part on one thread") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    const TokenCorpus corpus = random_corpus(12'000, seed);
    const SampleSource source = packed_samples(corpus, 37, kVocab);
    const std::string whole = analysed(source, source.samples, 1, 1 << 30);
    CHECK(analysed(source, 100, 1, 1 << 30) == whole);
    CHECK(analysed(source, 131, 3, 1 << 30) == whole);
    CHECK(analysed(source, 300, 2, 16 * 50) == whole);
    CHECK(analysed(source, 90, 1, 1 << 20, 3) == whole);
    CHECK(analysed(source, 90, 2, 1 << 12, 20) == whole);  // more shards than parts
}

TEST_CASE("analysis: the index holds each metric's values, and the samples by (value, id)") {
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(random_corpus(5'000, 3), 16, kVocab);
    const std::vector<Metric> metrics = built_in_metrics();
    const AnalyzerOptions options{folder / "parts", {}, 2, 1 << 20, {}};
    CHECK(map_samples(source, metrics, 40, options).none());
    for (const Metric& metric : metrics) {
        reduce_parts(source.samples, metric, 40, options, folder.path(), metric.name);
        const DifficultyIndex index = read_difficulty_index(folder.path(), metric.name);
        CHECK(std::vector<std::int64_t>(index.value.begin(), index.value.end()) == metric_values(source, metric));
    }
}

TEST_CASE("analysis: no samples give an empty index") {
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(corpus_of_tokens({1, 2}), 16, kVocab);
    const AnalyzerOptions options{folder / "parts", {}, 2, 1 << 20, {}};
    CHECK(map_samples(source, built_in_metrics(), samples_of_part(source), options).none());
    reduce_parts(0, built_in_metric("voc"), samples_of_part(source), options, folder.path(), "voc");
    CHECK(read_difficulty_index(folder.path(), "voc").samples() == 0);
}

TEST_CASE("analysis: killed at any part and begun again, it gives the bits of an undisturbed one") {
    const TokenCorpus corpus = random_corpus(3'000, 8);
    const SampleSource source = packed_samples(corpus, 16, kVocab);
    const std::vector<Metric> metrics = built_in_metrics();
    const std::string whole = analysed(source, 30, 1, 1 << 20);
    for (int survived = 1; survived < 14; survived += 6) {
        const TemporaryFolder folder;
        AnalyzerOptions options{folder / "parts", {}, 1, 1 << 20, {}};
        int reports = 0;
        options.progress = [&](const std::string&, double) {
            if (++reports > survived) _exit(7);  // as a kill: nothing is cleaned up
        };
        REQUIRE(deft::test::in_child([&] {
                    map_samples(source, metrics, 30, options);
                    return 0;
                }) == 7);
        std::size_t kept = 0;
        for (const auto& entry : fs::directory_iterator(options.parts))
            kept += entry.path().extension() == ".npy" ? 1 : 0;
        CHECK(kept > 0);
        int again = 0;
        options.progress = [&](const std::string&, double) { ++again; };
        CHECK(map_samples(source, metrics, 30, options).none());
        CHECK(again == 14 - survived);  // seven parts counted, then seven measured
        std::string bytes;
        for (const Metric& metric : metrics) {
            reduce_parts(source.samples, metric, 30, options, folder.path(), metric.name);
            bytes += index_bytes(folder.path(), metric.name);
        }
        CHECK(bytes == whole);
    }
}

TEST_CASE("analysis: a shard waits for the counts of the others, and the reduction for every part") {
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(random_corpus(2'000, 5), 16, kVocab);
    const Metric voc = built_in_metric("voc");
    AnalyzerOptions options{folder / "parts", {0, 2}, 1, 1 << 20, {}};
    const MissingParts missing = map_samples(source, {&voc, 1}, 25, options);
    CHECK(missing.counts == std::vector<std::int64_t>{1, 3});
    CHECK(missing.values.size() == 5);
    CHECK_THROWS_WITH(reduce_parts(source.samples, voc, 25, options, folder.path(), "voc"),
                      ContainsSubstring("part 0 of 5 is not measured yet"));
    options.shard = {1, 2};
    CHECK(map_samples(source, {&voc, 1}, 25, options).values == std::vector<std::int64_t>{0, 2, 4});
    // A metric without counts waits for nobody.
    const Metric length = built_in_metric("seqlen");
    CHECK(map_samples(source, {&length, 1}, 25, options).values == std::vector<std::int64_t>{0, 2, 4});
}

TEST_CASE("analysis: a damaged or foreign part is refused by name") {
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(random_corpus(2'000, 5), 16, kVocab);
    const Metric voc = built_in_metric("voc");
    const AnalyzerOptions options{folder / "parts", {}, 1, 1 << 20, {}};
    REQUIRE(map_samples(source, {&voc, 1}, 50, options).none());
    const fs::path part = options.parts / "voc-v2-00001.npy";
    const std::string whole = read_text(part);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        deft::test::write_text(part, whole.substr(0, size));
        REQUIRE_THROWS_AS(reduce_parts(source.samples, voc, 50, options, folder.path(), "voc"), Error);
    }
    fs::copy_file(options.parts / "voc-v2-00002.npy", part, fs::copy_options::overwrite_existing);
    CHECK_THROWS_WITH(reduce_parts(source.samples, voc, 50, options, folder.path(), "voc"),
                      ContainsSubstring("voc-v2-00001.npy") && ContainsSubstring("of a part of 50 samples"));
    fs::remove(part);
    fs::copy_file(options.parts / "voc-v2-00002.npy", options.parts / "counts-00000.npy",
                  fs::copy_options::overwrite_existing);
    CHECK_THROWS_WITH(map_samples(source, {&voc, 1}, 50, options), ContainsSubstring("no counts of 300 tokens"));
    CHECK_FALSE(fs::exists(difficulty_value_file(folder.path(), "voc")));
}

TEST_CASE("analysis: ids beyond 2^24 stay exact") {
    // The reference kept ids in 32-bit floats when it ran on several threads: 2^24 + 1 became 2^24.
    const TemporaryFolder folder;
    const std::vector<std::int32_t> tokens(8, 1);
    SampleSource source{(std::int64_t{1} << 24) + 5, 1, kVocab, "test", [&](std::int64_t, std::vector<std::int32_t>&) {
                            return TokenSpan{tokens.data(), 1, 4};
                        }};
    const Metric falling{"falling", 1, false,
                         [](const MeasuredSample& s, const TokenRarity&) { return s.tokens.size; }};
    const AnalyzerOptions options{folder / "parts", {}, 2, 1 << 28, {}};
    REQUIRE(map_samples(source, {&falling, 1}, samples_of_part(source), options).none());
    reduce_parts(source.samples, falling, samples_of_part(source), options, folder.path(), "f");
    const DifficultyIndex index = read_difficulty_index(folder.path(), "f");
    for (std::int64_t id = (std::int64_t{1} << 24) - 2; id < source.samples; ++id) REQUIRE(index.order[id] == id);
}

TEST_CASE("analysis: an id is the sample's number, however many samples a task takes", "[reference-defect]") {
    // The reference counted a batch's fields instead of its samples from the second batch on.
    const TemporaryFolder folder;
    std::vector<std::int32_t> tokens(5'000);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i);
    const SampleSource source = packed_samples(corpus_of_tokens(tokens), 1, 5'000);
    const Metric first{"first", 1, false,
                       [](const MeasuredSample& s, const TokenRarity&) { return std::int64_t{s.tokens[0]}; }};
    const AnalyzerOptions options{folder / "parts", {}, 3, 1 << 20, {}};
    REQUIRE(map_samples(source, {&first, 1}, 717, options).none());
    reduce_parts(source.samples, first, 717, options, folder.path(), "first");
    const DifficultyIndex index = read_difficulty_index(folder.path(), "first");
    REQUIRE(index.samples() == 4'999);
    for (std::int64_t id = 0; id < index.samples(); ++id) REQUIRE(index.value[id] == id);
}

TEST_CASE("analysis: one file a part and metric, however many values there are") {
    // The reference wrote a file for every distinct value of every thread.
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(random_corpus(20'000, 4), 8, kVocab);
    const std::vector<Metric> metrics = {built_in_metric("voc_per_token")};
    const AnalyzerOptions options{folder / "parts", {}, 3, 1 << 20, {}};
    REQUIRE(map_samples(source, metrics, 500, options).none());
    reduce_parts(source.samples, metrics[0], 500, options, folder / "index", "m");
    const auto files = [](const fs::path& path) { return std::distance(fs::directory_iterator(path), {}); };
    CHECK(files(options.parts) == 5 + 5);
    CHECK(files(folder / "index") == 2);
}

TEST_CASE("analysis: a thread's error ends it with that error") {
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(random_corpus(2'000, 5), 16, kVocab);
    const Metric bad{"bad", 1, false, [](const MeasuredSample&, const TokenRarity&) -> std::int64_t {
                         throw Error(deft::ErrorKind::config, "no such thing");
                     }};
    CHECK_THROWS_WITH(map_samples(source, {&bad, 1}, 50, {folder / "parts", {}, 3, 1 << 20, {}}),
                      ContainsSubstring("no such thing"));
}

TEST_CASE("analysis: parts whose values need different widths and signs are joined", "[reference-defect]") {
    // The reference asserted that a metric's values had the one type that its script named, which its own did not.
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(corpus_of_tokens({0, 1, 2, 3, 4, 5, 6}), 1, 7);
    const std::vector<std::int64_t> values = {3, 200, -5, 70'000, std::int64_t{1} << 40, -(std::int64_t{1} << 50)};
    const Metric wild{"wild", 1, false, [&](const MeasuredSample& s, const TokenRarity&) {
                          return values[static_cast<std::size_t>(s.tokens[0])];
                      }};
    const AnalyzerOptions options{folder / "parts", {}, 2, 1 << 20, {}};
    REQUIRE(map_samples(source, {&wild, 1}, 2, options).none());
    reduce_parts(6, wild, 2, options, folder.path(), "wild");
    const DifficultyIndex index = read_difficulty_index(folder.path(), "wild");
    CHECK(std::vector<std::int64_t>(index.value.begin(), index.value.end()) == values);
    CHECK(std::vector<std::int64_t>(index.order.begin(), index.order.end()) ==
          std::vector<std::int64_t>{5, 2, 0, 1, 3, 4});
}

TEST_CASE("analysis: any subset of the shards may run, in any order", "[reference-defect]") {
    // The reference indexed its processes by their numbers among all, and failed where it was given some of them.
    const TemporaryFolder folder;
    const SampleSource source = packed_samples(random_corpus(2'000, 5), 16, kVocab);
    const Metric length = built_in_metric("seqlen");
    AnalyzerOptions options{folder / "parts", {4, 5}, 3, 1 << 20, {}};
    CHECK(map_samples(source, {&length, 1}, 25, options).values == std::vector<std::int64_t>{0, 1, 2, 3});
    options.shard = {2, 5};
    CHECK(map_samples(source, {&length, 1}, 25, options).values == std::vector<std::int64_t>{0, 1, 3});
}

TEST_CASE("analysis: the bench measures every part of it") {
    const TemporaryFolder folder;
    const AnalyzerRates rates = analyzer_rates({1 << 16, 64, 1'000, 500, 1 << 20, 2, 1}, folder.path());
    CHECK(rates.both_seconds > 0);
    CHECK(rates.cpu_seconds > 0);
    CHECK(rates.memory_seconds > 0);
    CHECK(rates.index_seconds > 0);
    CHECK(rates.peak_bytes > 1'000'000);
    const DifficultyIndex index = read_difficulty_index(folder.path(), "first");
    CHECK(index.samples() == 500);
}
