#pragma once
// llm.c's token shards (github.com/karpathy/llm.c; FineWeb's too): int32[256], then the tokens end to end. 20240520
// with version 1: 16 bits unsigned, of GPT-2's vocabulary; 20240801 with version 7: 32 bits, of Llama's. The header's
// third entry is their number, and each document begins with the token that ends one.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/files.h"
#include "engine/data/token_corpus.h"

namespace deft::engine {

// Whether a file begins as such a shard does; false where there is none. Errors: io.
bool is_llmc_shard(const std::filesystem::path& file);

// The tokens of several shards in their order, checked when opened. One alone is memory-mapped; several are copied into
// memory, one after the other.
class LlmcTokens {
 public:
    // end_of_document: the token before each document. A shard may begin within a document of the one before
    // it. Errors: io, naming the file and what is wrong with it: foreign, truncated, too long, with a token of more
    // than 31 bits, or with tokens of another width than the first file's.
    LlmcTokens(std::span<const std::filesystem::path> files, std::int32_t end_of_document);

    TokenSpan tokens() const { return tokens_; }
    // Tokens before the first mark are a document too.
    std::int64_t documents() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
    // First token of document d; d == documents(): the number of all tokens.
    std::int64_t document_start(std::int64_t d) const { return starts_[static_cast<std::size_t>(d)]; }

 private:
    std::optional<MappedFile> only_;  // or, of several files,
    std::vector<std::byte> joined_;
    TokenSpan tokens_;                  // of either
    std::vector<std::int64_t> starts_;  // (documents + 1)
};

}  // namespace deft::engine
