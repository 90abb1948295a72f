#pragma once
// The documents of a corpus as tokens, and tokenizers trained on them.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/data/bert/sentence_corpus.h"
#include "engine/data/tokenizer.h"
#include "engine/data/wordpiece/wordpiece.h"
#include "experiments/config.h"
#include "experiments/datasets/corpus_source.h"

namespace deft::experiments {

// Progress of a preparation: a sentence, and the fraction done.
using PrepareProgress = std::function<void(const std::string& what, double fraction)>;

// Calls `take` with the parts of every document that is not empty, until it returns false. data.max_bytes ends a corpus
// that is to be divided with the document that reaches it; one that is longer than max_bytes is cut. Where files say
// what is to train on and what to validate on, it cuts the training text. Errors: as for_each_document().
void for_each_wanted(const CorpusSource& source, const DataConfig& data, const PrepareProgress& progress,
                     const std::string& what, const std::function<bool(const DocumentPart&)>& take);

struct Tokenized {
    std::int64_t documents = 0;
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;  // of text
};

// Writes PREFIX.bin and .idx; every document is closed by the end-of-document token. Holds one part of a document in
// memory at a time, and eight bytes for each document that is written. `each` hears of every document: its split and
// its bytes of text.
Tokenized write_tokens(const CorpusSource& source, const DataConfig& data, const engine::Tokenizer& tokenizer,
                       const std::filesystem::path& prefix, const PrepareProgress& progress,
                       const std::function<void(Split, std::int64_t)>& each = {});

// The same of sentences, a sequence each, without marks between documents: what BERT's samples are cut from.
Tokenized write_sentences(const CorpusSource& source, const DataConfig& data,
                          const std::shared_ptr<const engine::WordPiece>& wordpiece, engine::SentenceRule rule,
                          const std::filesystem::path& prefix, const PrepareProgress& progress,
                          const std::function<void(Split, std::int64_t)>& each = {});

// Bytes at a text's start for a tokenizer to learn from: enough for the vocabularies that are trained here. All of it
// is held in memory.
inline constexpr std::size_t kTokenizerTrainingBytes = 16'000'000;

// Learns a byte-pair encoding of data.vocab entries from the first `bytes` bytes of the documents that `wanted` takes,
// by split and number. Errors: config, for too little text too.
engine::Tokenizer train_tokenizer(const CorpusSource& source, const DataConfig& data, std::size_t bytes,
                                  const PrepareProgress& progress,
                                  const std::function<bool(Split, std::int64_t)>& wanted = {});

}  // namespace deft::experiments
