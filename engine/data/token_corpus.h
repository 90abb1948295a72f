#pragma once
// A tokenised corpus, packed: documents end to end, each closed by the end-of-document token, cut into samples of equal
// length without regard to document borders.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/data/tokenizer.h"

namespace deft::engine {

// Token ids of two bytes (unsigned) or four (signed), anywhere in memory.
struct TokenSpan {
    const void* data = nullptr;
    std::int64_t size = 0;
    int width = 2;  // bytes a token

    std::int32_t operator[](std::int64_t i) const {
        return width == 2 ? static_cast<const std::uint16_t*>(data)[i] : static_cast<const std::int32_t*>(data)[i];
    }
    TokenSpan part(std::int64_t first, std::int64_t count) const {
        return {static_cast<const char*>(data) + first * width, count, width};
    }
};

struct TokenCorpus {
    TokenSpan tokens;
    std::int64_t bytes = 0;  // of the text, marks not counted
    std::int64_t documents = 0;
    std::shared_ptr<const void> owner;  // keeps `tokens` alive

    // Sample i covers tokens [i * seqlen, i * seqlen + seqlen], the last one only as a target.
    std::int64_t samples(std::int64_t seqlen) const { return tokens.size > 0 ? (tokens.size - 1) / seqlen : 0; }
};

// Tokens held in memory. Each must be in 0 .. 2^31 - 1.
TokenCorpus corpus_of_tokens(std::vector<std::int32_t> tokens);
// Documents in memory, each closed by the tokenizer's end-of-document token.
TokenCorpus corpus_of_documents(std::span<const std::string> documents, const Tokenizer& tokenizer);

// Documents [first, last) of a source that knows tokens() and document_start(d), and that the corpus keeps alive;
// `bytes` stays 0, see text_bytes().
template <class Source>
TokenCorpus corpus_of_range(std::shared_ptr<Source> source, std::int64_t first, std::int64_t last) {
    TokenCorpus corpus;
    const std::int64_t start = source->document_start(first);
    corpus.tokens = source->tokens().part(start, source->document_start(last) - start);
    corpus.documents = last - first;
    corpus.owner = std::move(source);
    return corpus;
}

// The least and the largest token; {0, -1} of none.
std::pair<std::int32_t, std::int32_t> token_range(TokenSpan tokens);

// Bytes of text that the tokens encode. Errors: config, for a token that the tokenizer lacks.
std::int64_t text_bytes(TokenSpan tokens, const Tokenizer& tokenizer);

// Writes the first `length` inputs and targets of sample `id` of that seqlen; length <= seqlen.
void copy_sample(const TokenCorpus& corpus, std::int64_t id, std::int64_t seqlen, std::int64_t length,
                 std::int32_t* token, std::int32_t* target);

// The same of `length` inputs and targets from `begin` on; begin + length <= seqlen.
void copy_sample_part(const TokenCorpus& corpus, std::int64_t id, std::int64_t seqlen, std::int64_t begin,
                      std::int64_t length, std::int32_t* token, std::int32_t* target);

}  // namespace deft::engine
