#pragma once
// Small corpora and vocabularies for the tests of BERT's data.

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/bert/samples.h"

namespace deft::test {

inline constexpr std::int32_t kPad = 0, kUnk = 1, kCls = 2, kSep = 3, kMask = 4, kFirstWord = 5;

// [PAD] [UNK] [CLS] [SEP] [MASK], then `words` words, then `pieces` continuations.
inline std::shared_ptr<const engine::WordPiece> numbered_vocabulary(int words, int pieces) {
    std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int i = 0; i < words; ++i) text += "w" + std::to_string(i) + "\n";
    for (int i = 0; i < pieces; ++i) text += "##p" + std::to_string(i) + "\n";
    return std::make_shared<const engine::WordPiece>(engine::parse_vocab_txt(text, "vocab.txt"),
                                                     engine::WordPieceRules{});
}

using Ids = std::vector<std::int32_t>;

// Documents of sentences of token ids.
using Documents = std::vector<std::vector<Ids>>;

inline engine::SentenceCorpus corpus_of(const Documents& documents) {
    engine::SentenceCorpus corpus;
    std::vector<std::int32_t> tokens;
    for (const auto& document : documents) {
        for (const auto& sentence : document) {
            tokens.insert(tokens.end(), sentence.begin(), sentence.end());
            corpus.sentence_start.push_back(static_cast<std::int64_t>(tokens.size()));
        }
        corpus.document_start.push_back(corpus.sentences());
    }
    const engine::TokenCorpus all = engine::corpus_of_tokens(std::move(tokens));
    corpus.tokens = all.tokens;
    corpus.owner = all.owner;
    return corpus;
}

// Documents of sentences of these lengths; the tokens count up from kFirstWord.
inline engine::SentenceCorpus corpus_of_lengths(const std::vector<std::vector<int>>& lengths) {
    Documents documents;
    std::int32_t next = kFirstWord;
    for (const auto& document : lengths) {
        documents.emplace_back();
        for (const int length : document) {
            std::vector<std::int32_t> sentence(static_cast<std::size_t>(length));
            std::iota(sentence.begin(), sentence.end(), next);
            next += length;
            documents.back().push_back(std::move(sentence));
        }
    }
    return corpus_of(documents);
}

// Some documents are empty or of one sentence, some sentences longer than any sample of a few dozen tokens.
inline std::vector<std::vector<int>> random_lengths(std::mt19937_64& random, int documents) {
    std::vector<std::vector<int>> lengths(static_cast<std::size_t>(documents));
    for (auto& document : lengths) {
        document.resize(random() % 12);
        for (int& length : document) length = 1 + static_cast<int>(random() % (random() % 20 == 0 ? 150 : 15));
    }
    return lengths;
}

// Samples of nine documents, five sentences of two to six of nine words each.
inline std::shared_ptr<const engine::BertSamples> small_samples(std::int64_t seqlen) {
    Documents documents(9);
    for (std::size_t d = 0; d < documents.size(); ++d)
        for (std::size_t s = 0; s < 5; ++s) {
            Ids sentence;
            for (std::size_t w = 0; w < 2 + (d + s) % 5; ++w)
                sentence.push_back(kFirstWord + static_cast<std::int32_t>((d + 3 * s + w * w) % 9));
            documents[d].push_back(std::move(sentence));
        }
    return std::make_shared<const engine::BertSamples>(corpus_of(documents), numbered_vocabulary(9, 0),
                                                       engine::SampleShape{.seqlen = seqlen},
                                                       engine::MaskingRule{.fraction = 0.3}, 5);
}

}  // namespace deft::test
