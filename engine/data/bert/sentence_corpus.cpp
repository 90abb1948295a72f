#include "engine/data/bert/sentence_corpus.h"

#include <utility>

namespace deft::engine {

namespace {

// Calls visit(tokens) for every sentence that has any.
template <class Visit>
void for_each_sentence(std::string_view text, WordPieceEncoder& encoder, SentenceRule rule, Visit visit) {
    std::vector<std::int32_t> tokens;
    for (const std::string_view sentence : split_sentences(text, rule)) {
        tokens.clear();
        encoder.encode(sentence, tokens);
        if (!tokens.empty()) visit(std::span<const std::int32_t>(tokens));
    }
}

}  // namespace

SentenceCorpus sentences_of_documents(std::span<const std::string> documents,
                                      const std::shared_ptr<const WordPiece>& wordpiece, SentenceRule rule) {
    SentenceCorpus corpus;
    std::vector<std::int32_t> all;
    WordPieceEncoder encoder(wordpiece);
    for (const std::string& text : documents) {
        for_each_sentence(text, encoder, rule, [&](std::span<const std::int32_t> tokens) {
            all.insert(all.end(), tokens.begin(), tokens.end());
            corpus.sentence_start.push_back(static_cast<std::int64_t>(all.size()));
        });
        corpus.document_start.push_back(corpus.sentences());
        corpus.bytes += static_cast<std::int64_t>(text.size());
    }
    TokenCorpus tokens = corpus_of_tokens(std::move(all));
    corpus.tokens = tokens.tokens;
    corpus.owner = std::move(tokens.owner);
    return corpus;
}

SentenceCorpus sentences_of_range(std::shared_ptr<const IndexedDataset> dataset, std::int64_t first,
                                  std::int64_t last) {
    SentenceCorpus corpus;
    const std::int64_t start = dataset->document_start(first);
    corpus.tokens = dataset->tokens().part(start, dataset->document_start(last) - start);
    for (std::int64_t d = first; d < last; ++d) {
        for (std::int64_t s = dataset->first_sequence(d); s < dataset->first_sequence(d + 1); ++s) {
            const std::int64_t end = dataset->sequence_start(s + 1) - start;
            if (end > corpus.sentence_start.back()) corpus.sentence_start.push_back(end);
        }
        corpus.document_start.push_back(corpus.sentences());
    }
    corpus.owner = std::move(dataset);
    return corpus;
}

void add_document_of_sentences(IndexedDatasetWriter& writer, std::string_view text, WordPieceEncoder& encoder,
                               SentenceRule rule) {
    for_each_sentence(text, encoder, rule, [&](std::span<const std::int32_t> tokens) { writer.add_sequence(tokens); });
    writer.end_document();
}

}  // namespace deft::engine
