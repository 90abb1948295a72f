// Megatron's files, built here byte by byte from the published layout, and the writer against them.

#include "engine/data/indexed_dataset.h"

#include <unistd.h>

#include <cstring>
#include <limits>
#include <random>

#include "engine/bench/corpus.h"
#include "tests/catch.h"
#include "tests/little_endian.h"
#include "tests/refusal.h"
#include "tests/small_disk.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using test::little_endian;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;

namespace {

// The parts of an index, which tests damage one by one.
struct Index {
    std::string magic = std::string("MMIDIDX\0\0", 9);
    std::uint64_t version = 1;
    int dtype = 8;
    std::vector<std::int64_t> lengths, offsets, borders;
    std::int64_t claimed_sequences = -1, claimed_borders = -1;  // -1: as many as there are

    std::string bytes() const {
        const auto or_size = [](std::int64_t claimed, std::size_t size) {
            return claimed < 0 ? static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(claimed);
        };
        std::string text = magic + little_endian(version, 8) + little_endian(static_cast<std::uint64_t>(dtype), 1) +
                           little_endian(or_size(claimed_sequences, lengths.size()), 8) +
                           little_endian(or_size(claimed_borders, borders.size()), 8);
        for (const std::int64_t length : lengths) text += little_endian(static_cast<std::uint64_t>(length), 4);
        for (const std::int64_t offset : offsets) text += little_endian(static_cast<std::uint64_t>(offset), 8);
        for (const std::int64_t border : borders) text += little_endian(static_cast<std::uint64_t>(border), 8);
        return text;
    }
};

// Documents [1 2 3], [4], [] and [5 6] of two bytes a token; the first has two sequences.
Index small_index() {
    Index index;
    index.lengths = {2, 1, 1, 2};
    index.offsets = {0, 4, 6, 8};
    index.borders = {0, 2, 3, 3, 4};
    return index;
}

std::string small_bin(int width) {
    std::string bin;
    for (std::uint64_t token = 1; token <= 6; ++token) bin += little_endian(token, width);
    return bin;
}

void write_dataset(const TemporaryFolder& folder, const std::string& idx, const std::string& bin) {
    write_text(folder / "d.idx", idx);
    write_text(folder / "d.bin", bin);
}

// The reader's refusal of these files.
std::string wrong_files(const std::string& idx, const std::string& bin = small_bin(2)) {
    const TemporaryFolder folder;
    write_dataset(folder, idx, bin);
    return test::refusal(
        ErrorKind::io, [&] { const IndexedDataset dataset(folder / "d"); }, "/d.");
}

std::vector<std::int32_t> tokens_of(TokenSpan span) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < span.size; ++i) tokens.push_back(span[i]);
    return tokens;
}

}  // namespace

TEST_CASE("indexed dataset: two-byte tokens, several sequences a document, an empty document", "[bare]") {
    const TemporaryFolder folder;
    write_dataset(folder, small_index().bytes(), small_bin(2));
    const auto dataset = std::make_shared<const IndexedDataset>(folder / "d");
    CHECK(dataset->sequences() == 4);
    REQUIRE(dataset->documents() == 4);
    CHECK(tokens_of(dataset->tokens()) == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
    CHECK(tokens_of(corpus_of_range(dataset, 0, 1).tokens) == std::vector<std::int32_t>{1, 2, 3});
    CHECK(tokens_of(corpus_of_range(dataset, 2, 3).tokens).empty());
    CHECK(tokens_of(corpus_of_range(dataset, 1, 4).tokens) == std::vector<std::int32_t>{4, 5, 6});
    CHECK(sum_of_tokens(dataset->tokens()) == 21);
}

TEST_CASE("indexed dataset: four-byte tokens up to 2^31 - 1", "[bare]") {
    const TemporaryFolder folder;
    Index index;
    index.dtype = 4;
    index.lengths = {3};
    index.offsets = {0};
    index.borders = {0, 1};
    write_dataset(folder, index.bytes(),
                  little_endian(70'000, 4) + little_endian(0, 4) + little_endian(2'147'483'647, 4));
    const IndexedDataset dataset(folder / "d");
    CHECK(tokens_of(dataset.tokens()) == std::vector<std::int32_t>{70'000, 0, 2'147'483'647});
    CHECK(sum_of_tokens(dataset.tokens()) == 2'147'553'647);
}

TEST_CASE("indexed dataset: a dataset of no documents", "[bare]") {
    const TemporaryFolder folder;
    Index index;
    index.borders = {0};
    write_dataset(folder, index.bytes(), "");
    const IndexedDataset dataset(folder / "d");
    CHECK(dataset.documents() == 0);
    CHECK(dataset.tokens().size == 0);
}

TEST_CASE("indexed dataset: multimodal modes after the borders are ignored", "[bare]") {
    CHECK(wrong_files(small_index().bytes() + std::string(4, '\0')) == "accepted");
}

TEST_CASE("indexed dataset: the writer's bytes are those of the layout", "[bare]") {
    const TemporaryFolder folder;
    const std::vector<std::vector<std::int32_t>> documents = {{1, 2, 3}, {4}, {}, {5, 6}};
    for (const std::int32_t vocab : {65'499, 65'500}) {
        const int width = vocab < 65'500 ? 2 : 4;
        IndexedDatasetWriter writer(folder / "w", vocab);
        for (const auto& document : documents) writer.add_document(document);
        CHECK_FALSE(std::filesystem::exists(folder / "w.idx"));
        writer.finish();
        Index index;
        index.dtype = width == 2 ? 8 : 4;
        index.lengths = {3, 1, 0, 2};
        index.offsets = {0, 3 * width, 4 * width, 4 * width};
        index.borders = {0, 1, 2, 3, 4};
        CHECK(read_text(folder / "w.idx") == index.bytes());
        CHECK(read_text(folder / "w.bin") == small_bin(width));
    }
}

TEST_CASE("indexed dataset: foreign, other versions, other types", "[bare]") {
    Index index = small_index();
    index.magic = std::string("TNTIDX\0\0\0", 9);
    CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("does not begin with MMIDIDX"));
    CHECK_THAT(wrong_files(""), ContainsSubstring("does not begin with MMIDIDX"));
    index = small_index();
    index.version = 2;
    CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("version 2"));
    for (const int dtype : {0, 1, 2, 3, 5, 6, 7, 9, 255}) {
        index = small_index();
        index.dtype = dtype;
        CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("type code " + std::to_string(dtype)));
    }
}

TEST_CASE("indexed dataset: every truncation of the index is refused", "[bare]") {
    const std::string whole = small_index().bytes();
    REQUIRE(wrong_files(whole) == "accepted");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size << " of " << whole.size() << " bytes");
        const std::string said = wrong_files(whole.substr(0, size));
        CHECK(said != "accepted");
        if (size >= 9) CHECK_THAT(said, ContainsSubstring("truncated"));
    }
}

TEST_CASE("indexed dataset: tokens that are truncated or of another dataset", "[bare]") {
    for (const std::size_t bytes : {0, 2, 11})
        CHECK_THAT(wrong_files(small_index().bytes(), small_bin(2).substr(0, bytes)), ContainsSubstring("d.bin"));
    CHECK_THAT(wrong_files(small_index().bytes(), small_bin(4)),
               ContainsSubstring("24 bytes where its index declares 12") && ContainsSubstring("another dataset"));
}

TEST_CASE("indexed dataset: hostile counts, lengths, offsets and borders", "[bare]") {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t claimed : {std::int64_t{5}, std::int64_t{1} << 60, (std::int64_t{1} << 62) + 4, kMost}) {
        Index index = small_index();
        index.claimed_sequences = claimed;
        CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("truncated"));
    }
    for (const std::int64_t claimed : {std::int64_t{6}, std::int64_t{1} << 60, (std::int64_t{1} << 61) + 5, kMost}) {
        Index index = small_index();
        index.claimed_borders = claimed;
        CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("truncated"));
    }
    Index index = small_index();
    index.claimed_borders = 0;
    CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("no document borders"));
    index = small_index();
    index.lengths[1] = -1;
    CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("length -1"));
    index = small_index();
    index.lengths = {2'147'483'647, 2'147'483'647, 2'147'483'647, 2'147'483'647};  // more than 2^32 in 32 bits
    index.offsets = {0, 4'294'967'294, 8'589'934'588, 12'884'901'882};
    CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("17179869176"));
    for (const std::int64_t offset : {std::int64_t{2}, std::int64_t{-4}, kMost}) {
        index = small_index();
        index.offsets[1] = offset;
        CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("byte offset of sequence 1"));
    }
    const std::vector<std::vector<std::int64_t>> borders = {{0, 3, 2, 3, 4}, {1, 2, 3, 3, 4},  {0, 2, 3, 3, 3},
                                                            {0, 2, 3, 3, 5}, {0, -1, 3, 3, 4}, {kMost, 2, 3, 3, 4}};
    for (const auto& spoilt : borders) {
        index = small_index();
        index.borders = spoilt;
        CHECK_THAT(wrong_files(index.bytes()), ContainsSubstring("document"));
    }
}

TEST_CASE("indexed dataset: a missing file is named", "[bare]") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(IndexedDataset(folder / "d"), ContainsSubstring("d.bin"));
    write_text(folder / "d.bin", small_bin(2));
    CHECK_THROWS_WITH(IndexedDataset(folder / "d"), ContainsSubstring("d.idx"));
}

TEST_CASE("indexed dataset: no random bytes crash the reader", "[bare]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::string whole = small_index().bytes();
    for (int round = 0; round < 500; ++round) {
        std::string spoilt = whole;
        for (int change = 0; change < 3; ++change)
            spoilt[9 + random() % (whole.size() - 9)] = static_cast<char>(random());
        const std::string said = wrong_files(spoilt);
        CHECK((said == "accepted" || said.find("/d.") != std::string::npos));
    }
}

TEST_CASE("indexed dataset: more than 2^31 tokens, in a sparse file", "[bare]") {
    constexpr std::int64_t kLong = 2'147'483'000, kTokens = kLong + 5'000;
    const TemporaryFolder folder;
    Index index;
    index.lengths = {kLong, 5'000};
    index.offsets = {0, kLong * 2};
    index.borders = {0, 1, 2};
    write_text(folder / "d.idx", index.bytes());
    write_text(folder / "d.bin", "");
    if (::truncate((folder / "d.bin").c_str(), kTokens * 2) != 0) DEFT_SKIP("no sparse file of 4 GB here");
    {
        std::fstream bin(folder / "d.bin", std::ios::in | std::ios::out | std::ios::binary);
        bin.seekp(kTokens * 2 - 4);
        bin << little_endian(40'000, 2) << little_endian(7, 2);
        bin.flush();
        if (!bin) DEFT_SKIP("no sparse file of 4 GB here");
    }
    const auto dataset = std::make_shared<const IndexedDataset>(folder / "d");
    CHECK(dataset->tokens().size == kTokens);
    const TokenCorpus last = corpus_of_range(dataset, 1, 2);
    CHECK(last.tokens.size == 5'000);
    CHECK(last.tokens[4'998] == 40'000);
    CHECK(last.tokens[4'999] == 7);
    const TokenCorpus all = corpus_of_range(dataset, 0, 2);
    const std::int64_t seqlen = 1000, samples = all.samples(seqlen);
    CHECK(samples == 2'147'487);
    std::vector<std::int32_t> token(seqlen), target(seqlen);
    copy_sample(all, samples - 1, seqlen, seqlen, token.data(), target.data());
    CHECK(token == std::vector<std::int32_t>(seqlen, 0));
    const TokenCorpus end = corpus_of_range(dataset, 1, 2);
    copy_sample(end, 4, seqlen, seqlen - 1, token.data(), target.data());
    CHECK(target[seqlen - 2] == 7);
    CHECK(token[seqlen - 2] == 40'000);
}

TEST_CASE("token sums do not overflow at the largest values", "[bare]") {
    std::vector<std::uint16_t> narrow(100'001, 65'535);
    CHECK(sum_of_tokens({narrow.data(), 100'001, 2}) == 100'001ULL * 65'535);
    std::vector<std::int32_t> wide(100, 2'147'483'647);
    CHECK(sum_of_tokens({wide.data(), 100, 4}) == 100ULL * 2'147'483'647);
}

TEST_CASE("a dataset that a full disk cuts short is refused by finish() at the latest, and leaves no index", "[bare]") {
    const TemporaryFolder folder;
    const test::SmallDisk disk(folder / "disk", 64);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    // The tokens lie in stdio's buffer until finish(); or fill the disk, so that only the index has no room.
    for (const std::size_t sequences : {std::size_t{1}, std::size_t{5000}}) {
        const std::size_t tokens = sequences == 1 ? 512 : 6;
        write_text(disk / "ballast", std::string(sequences == 1 ? 64 << 10 : 4 << 10, 'x'));
        IndexedDatasetWriter writer(disk / "d", 100);
        const std::vector<std::int32_t> document(tokens, 7);
        const auto write = [&] {
            for (std::size_t i = 0; i < sequences; ++i) writer.add_document(document);
            writer.finish();
        };
        CHECK_THAT(test::refusal(ErrorKind::io, write),
                   ContainsSubstring("No space left") && ContainsSubstring(sequences == 1 ? "/d.bin" : "/d.idx"));
        CHECK_FALSE(std::filesystem::exists(disk / "d.idx"));
        std::filesystem::remove(disk / "d.bin");
    }
}
