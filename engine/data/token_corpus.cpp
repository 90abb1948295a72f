#include "engine/data/token_corpus.h"

#include "engine/data/byte_tokenizer.h"

namespace deft::engine {

void TokenCorpus::add_document(std::string_view text) {
    tokens.reserve(tokens.size() + text.size() + 1);
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    tokens.push_back(kEndOfDocument);
    bytes += static_cast<std::int64_t>(text.size());
    ++documents;
}

void copy_sample(const TokenCorpus& corpus, std::int64_t id, std::int64_t seqlen, std::int64_t length,
                 std::int32_t* token, std::int32_t* target) {
    const std::uint16_t* start = corpus.tokens.data() + id * seqlen;
    for (std::int64_t t = 0; t < length; ++t) {
        token[t] = start[t];
        target[t] = start[t + 1];
    }
}

}  // namespace deft::engine
