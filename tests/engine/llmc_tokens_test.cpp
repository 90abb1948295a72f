// Token shards of llm.c: both kinds, their documents, and damaged ones.

#include "engine/data/llmc_tokens.h"

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;

namespace {

template <class Token>
std::string shard_bytes(std::int32_t magic, std::int32_t version, const std::vector<Token>& tokens) {
    std::vector<std::int32_t> header(256);
    header[0] = magic;
    header[1] = version;
    header[2] = static_cast<std::int32_t>(tokens.size());
    return std::string(reinterpret_cast<const char*>(header.data()), 1024) +
           std::string(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token));
}

constexpr std::int32_t kGpt2 = 20240520, kLlama = 20240801;

template <class Token>
void check_shard(std::int32_t magic, std::int32_t version, Token largest) {
    const TemporaryFolder folder;
    std::mt19937 random(std::random_device{}());
    std::vector<Token> tokens = {9};  // a document that ends at once
    for (int i = 0; i < 501; ++i) tokens.push_back(static_cast<Token>(random() % 20));
    tokens.push_back(largest);
    write_file_atomically(folder / "t.bin", shard_bytes(magic, version, tokens));
    REQUIRE(is_llmc_shard(folder / "t.bin"));
    const auto shard = std::make_shared<const LlmcTokens>(std::vector{folder / "t.bin"}, 9);
    CHECK(shard->tokens().size == 503);
    CHECK(shard->documents() == std::count(tokens.begin(), tokens.end(), Token{9}));
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < shard->documents(); ++d) {
        const TokenCorpus document = corpus_of_range(shard, d, d + 1);
        CHECK(document.documents == 1);
        CHECK(document.tokens[0] == 9);
        for (std::int64_t i = 0; i < document.tokens.size; ++i, ++at) {
            CHECK(document.tokens[i] == static_cast<std::int32_t>(tokens[static_cast<std::size_t>(at)]));
            if (i > 0) CHECK(document.tokens[i] != 9);
        }
    }
    CHECK(at == 503);
    CHECK(corpus_of_range(shard, 0, shard->documents()).tokens[502] == static_cast<std::int32_t>(largest));
    // Tokens before the first mark are a document.
    CHECK(LlmcTokens(std::vector{folder / "t.bin"}, static_cast<std::int32_t>(largest)).documents() == 2);
}

}  // namespace

TEST_CASE("token shards of llm.c give their tokens and documents") {
    check_shard<std::uint16_t>(kGpt2, 1, 65535);
    check_shard<std::uint32_t>(kLlama, 7, 0x7fffffffu);
}

TEST_CASE("a token shard that is cut, too long, or of another kind is refused") {
    const TemporaryFolder folder;
    const auto file = folder / "t.bin";
    const auto refused = [&](const std::string& bytes) {
        write_file_atomically(file, bytes);
        return refusal(ErrorKind::io, [&] { LlmcTokens(std::vector{file}, 50256); });
    };
    const std::vector<std::uint16_t> tokens = {50256, 1, 2, 3};
    const std::string whole = shard_bytes(kGpt2, 1, tokens);
    CHECK(refused(whole) == "accepted");
    CHECK(refused(shard_bytes<std::uint16_t>(kGpt2, 1, {})) == "accepted");
    CHECK_THAT(refused(whole.substr(0, whole.size() - 1)),
               ContainsSubstring("1031 bytes where its header implies 1032"));
    CHECK_THAT(refused(whole + "ab"), ContainsSubstring("1034 bytes where its header implies 1032"));
    CHECK_THAT(refused(whole.substr(0, 1023)), ContainsSubstring("shorter than its header"));
    CHECK_THAT(refused(shard_bytes(kGpt2, 2, tokens)), ContainsSubstring("version 2 of 20240520"));
    CHECK_THAT(refused(shard_bytes(kLlama, 1, tokens)), ContainsSubstring("version 1 of 20240801"));
    CHECK_THAT(refused(shard_bytes(20240522, 1, tokens)), ContainsSubstring("it begins with 20240522"));
    CHECK_THAT(refused(shard_bytes<std::uint32_t>(kLlama, 7, {1, 0x80000000u})),
               ContainsSubstring("token 1 has more than 31 bits"));
    std::string negative = whole;
    const std::int32_t count = -4;
    std::memcpy(negative.data() + 8, &count, 4);
    CHECK_THAT(refused(negative), ContainsSubstring("-4 tokens"));
    CHECK(!is_llmc_shard(folder / "absent.bin"));
    write_file_atomically(file, shard_bytes(20240522, 1, tokens));
    CHECK(!is_llmc_shard(file));
    write_file_atomically(file, "short");
    CHECK(!is_llmc_shard(file));
}

TEST_CASE("several shards are one text in their order, documents going on from one into the next") {
    const TemporaryFolder folder;
    std::mt19937 random(std::random_device{}());
    std::vector<std::filesystem::path> files;
    std::vector<std::uint16_t> all;
    for (const int size : {37, 0, 1, 61}) {
        std::vector<std::uint16_t> tokens;
        for (int i = 0; i < size; ++i) tokens.push_back(static_cast<std::uint16_t>(random() % 6));
        if (size == 61) tokens.front() = 3;  // in the midst of a document
        all.insert(all.end(), tokens.begin(), tokens.end());
        files.push_back(folder.path() / fmt::format("t{}.bin", files.size()));
        write_file_atomically(files.back(), shard_bytes(kGpt2, 1, tokens));
    }
    const auto several = std::make_shared<const LlmcTokens>(files, 5);
    write_file_atomically(folder / "one.bin", shard_bytes(kGpt2, 1, all));
    const LlmcTokens one(std::vector{folder / "one.bin"}, 5);
    REQUIRE(several->tokens().size == 99);
    CHECK(several->tokens().width == 2);
    for (std::int64_t i = 0; i < 99; ++i) CHECK(several->tokens()[i] == all[static_cast<std::size_t>(i)]);
    REQUIRE(several->documents() == one.documents());
    for (std::int64_t d = 0; d <= one.documents(); ++d) CHECK(several->document_start(d) == one.document_start(d));
    // The corpus keeps them alive.
    TokenCorpus corpus = corpus_of_range(std::make_shared<const LlmcTokens>(files, 5), 0, one.documents());
    CHECK(corpus.tokens[98] == all.back());
    CHECK(corpus.documents == one.documents());

    write_file_atomically(files[1], shard_bytes<std::uint32_t>(kLlama, 7, {1, 2}));
    CHECK_THAT(refusal(ErrorKind::io, [&] { LlmcTokens(files, 5); }),
               ContainsSubstring("t1.bin has tokens of 4 bytes, and") && ContainsSubstring("t0.bin of 2"));
    write_file_atomically(files[1], shard_bytes<std::uint16_t>(kGpt2, 1, {1, 2}).substr(0, 1027));
    CHECK_THAT(refusal(ErrorKind::io, [&] { LlmcTokens(files, 5); }),
               ContainsSubstring("t1.bin") && ContainsSubstring("1027 bytes where its header implies 1028"));
    std::filesystem::remove(files[3]);
    CHECK_THAT(refusal(ErrorKind::io, [&] { LlmcTokens(files, 5); }), ContainsSubstring("t3.bin"));
}
