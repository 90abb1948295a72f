#include "engine/data/token_corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace deft::engine {

namespace {

template <class T>
void copy_inputs_and_targets(const T* start, std::int64_t length, std::int32_t* token, std::int32_t* target) {
    for (std::int64_t t = 0; t < length; ++t) {
        token[t] = start[t];
        target[t] = start[t + 1];
    }
}

template <class T>
std::pair<std::int32_t, std::int32_t> range_of(const T* tokens, std::int64_t count) {
    T least = tokens[0], most = tokens[0];
    for (std::int64_t i = 1; i < count; ++i) {
        least = std::min(least, tokens[i]);
        most = std::max(most, tokens[i]);
    }
    return {least, most};
}

}  // namespace

TokenCorpus corpus_of_tokens(std::vector<std::int32_t> tokens) {
    auto owner = std::make_shared<const std::vector<std::int32_t>>(std::move(tokens));
    TokenCorpus corpus;
    corpus.tokens = {owner->data(), static_cast<std::int64_t>(owner->size()), 4};
    corpus.owner = std::move(owner);
    return corpus;
}

TokenCorpus corpus_of_documents(std::span<const std::string> documents, const Tokenizer& tokenizer) {
    std::vector<std::int32_t> tokens;
    std::int64_t bytes = 0;
    Encoder encoder(tokenizer);
    for (const std::string& text : documents) {
        encoder.encode(text, tokens);
        tokens.push_back(tokenizer.end_of_document());
        bytes += static_cast<std::int64_t>(text.size());
    }
    TokenCorpus corpus = corpus_of_tokens(std::move(tokens));
    corpus.bytes = bytes;
    corpus.documents = static_cast<std::int64_t>(documents.size());
    return corpus;
}

std::pair<std::int32_t, std::int32_t> token_range(TokenSpan tokens) {
    if (tokens.size == 0) return {0, -1};
    if (tokens.width == 2) return range_of(static_cast<const std::uint16_t*>(tokens.data), tokens.size);
    return range_of(static_cast<const std::int32_t*>(tokens.data), tokens.size);
}

std::int64_t text_bytes(TokenSpan tokens, const Tokenizer& tokenizer) {
    std::int64_t bytes = 0;
    for (std::int64_t i = 0; i < tokens.size; ++i) {
        const std::int32_t token = tokens[i];
        if (token < 0 || token >= tokenizer.vocab())
            throw Error(ErrorKind::config,
                        fmt::format("the corpus has token {}, and tokenizer {} only 0 to {}", token, tokenizer.name(),
                                    tokenizer.vocab() - 1),
                        "name the tokenizer that the corpus was made with");
        bytes += tokenizer.token_bytes(token);
    }
    return bytes;
}

void copy_sample(const TokenCorpus& corpus, std::int64_t id, std::int64_t seqlen, std::int64_t length,
                 std::int32_t* token, std::int32_t* target) {
    copy_sample_part(corpus, id, seqlen, 0, length, token, target);
}

void copy_sample_part(const TokenCorpus& corpus, std::int64_t id, std::int64_t seqlen, std::int64_t begin,
                      std::int64_t length, std::int32_t* token, std::int32_t* target) {
    const TokenSpan part = corpus.tokens.part(id * seqlen + begin, length + 1);
    if (part.width == 2)
        copy_inputs_and_targets(static_cast<const std::uint16_t*>(part.data), length, token, target);
    else
        copy_inputs_and_targets(static_cast<const std::int32_t*>(part.data), length, token, target);
}

}  // namespace deft::engine
