#pragma once
// Where a document's sentences end: a rule simple enough to state, for languages with full stops.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/indexed_dataset.h"
#include "engine/data/token_corpus.h"
#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

enum class SentenceRule : std::uint8_t {
    // A sentence ends
    //   at an empty line;
    //   after one or more of . ! ? and U+2026, with the closing quotes and brackets that follow, where whitespace and
    //   then no lower-case letter of ASCII comes next; but not after the stop of a single capital letter ("J. Smith")
    //   or of a title or other short form that goes before a name or number (Mr. Dr. St. No. ...);
    //   after the ideographic stops U+3002, U+FF01 and U+FF1F, with what closes there.
    punctuation,
    // Every line is one, as in corpora that are already split.
    lines,
};

// Parts of the text, in order, none empty, without ASCII whitespace at their ends; they hold all the rest of the text.
std::vector<std::string_view> split_sentences(std::string_view text, SentenceRule rule);

// A tokenised corpus that knows its sentences: what BERT's samples are cut from.

struct SentenceCorpus {
    TokenSpan tokens;                             // no special tokens, no marks between documents
    std::vector<std::int64_t> sentence_start{0};  // (sentences + 1), in tokens
    std::vector<std::int64_t> document_start{0};  // (documents + 1), in sentences
    std::int64_t bytes = 0;                       // of the text, where it is known
    std::shared_ptr<const void> owner;            // keeps `tokens` alive

    std::int64_t sentences() const { return static_cast<std::int64_t>(sentence_start.size()) - 1; }
    std::int64_t documents() const { return static_cast<std::int64_t>(document_start.size()) - 1; }
};

// Documents in memory. A sentence without tokens is left out.
SentenceCorpus sentences_of_documents(std::span<const std::string> documents,
                                      const std::shared_ptr<const WordPiece>& wordpiece, SentenceRule rule);

// Documents [first, last) of a dataset whose sequences are sentences, as Megatron's preprocessing writes them for BERT.
SentenceCorpus sentences_of_range(std::shared_ptr<const IndexedDataset> dataset, std::int64_t first, std::int64_t last);

// Writes one document; each sentence becomes a sequence. Errors: io.
void add_document_of_sentences(IndexedDatasetWriter& writer, std::string_view text, WordPieceEncoder& encoder,
                               SentenceRule rule);

}  // namespace deft::engine
