#pragma once
// BERT's vocab.txt: a token a line, in UTF-8; the line number, from 0, is the id. Tokens that begin with ## continue a
// word.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/data/bpe/pair_map.h"
#include "engine/data/wordpiece/basic_tokenizer.h"

namespace deft::engine {

struct WordPieceVocabulary {
    std::vector<std::string> tokens;  // by id
    std::int32_t pad = -1, unk = -1, cls = -1, sep = -1, mask = -1;
};

inline constexpr std::string_view kContinuation = "##";
inline constexpr const char* kVocabTxt = "vocab.txt";

// The file may be packed (.gz, .zst). Errors: io, where it cannot be read; config, with the line: a token twice or
// none, no UTF-8, CRLF line ends, no [PAD], [UNK], [CLS], [SEP] or [MASK].
WordPieceVocabulary read_vocab_txt(const std::filesystem::path& file);

// Parses text in memory; `file` is for the messages.
WordPieceVocabulary parse_vocab_txt(std::string_view text, const std::string& file);

// Errors: io.
void write_vocab_txt(const WordPieceVocabulary& vocabulary, const std::filesystem::path& file);

// WordPiece (Wu et al. 2016, as BERT has it): a word is the longest token that begins it, then the longest
// continuation of what is left, and so on; where nothing fits the whole word is [UNK].

struct WordPieceRules {
    BasicTokenizerRules words;
    int max_code_points = 100;  // a longer word is [UNK]; Megatron-DeepSpeed allows 200
};

// The rules of Hugging Face's BertTokenizerFast, except for characters newer than its Unicode tables.
WordPieceRules hugging_face_rules(bool lower_case);

// Immutable: safe to share between threads.
class WordPiece {
 public:
    WordPiece(WordPieceVocabulary vocabulary, const WordPieceRules& rules);

    const WordPieceVocabulary& vocabulary() const { return vocabulary_; }
    const WordPieceRules& rules() const { return rules_; }
    std::int32_t vocab() const { return static_cast<std::int32_t>(vocabulary_.tokens.size()); }
    // Whether the token goes on with the word before it: ##...
    bool continues_word(std::int32_t id) const { return continues_[static_cast<std::size_t>(id)]; }
    // Indexed by id, for whole-word masking. (vocab())
    const std::vector<bool>& continuations() const { return continues_; }
    // The hash of everything that decides the encoding: the tokens by id and the rules.
    const std::string& sha256() const { return sha256_; }

    // Appends the tokens of a word that BasicTokenizer gave.
    void encode_word(std::string_view word, std::vector<std::int32_t>& out) const;

    // No special token is recognised inside text, so only [UNK] of them comes of it.
    std::vector<std::int32_t> encode(std::string_view text) const;

    // Words with a space between; case, accents and spacing of the text are lost. Special tokens appear as they are
    // spelled. Errors: config, for an id that the vocabulary lacks.
    std::string decode(std::span<const std::int32_t> tokens) const;

 private:
    void add_to_trie(std::string_view bytes, bool continues, std::int32_t id);

    WordPieceVocabulary vocabulary_;
    WordPieceRules rules_;
    std::vector<bool> continues_;
    std::string sha256_;
    // A trie: a child by (node, byte); node 0 begins words, node 1 their continuations.
    PairMap child_;
    std::vector<std::int32_t> token_of_node_;  // -1: the path to that node is not a token
};

// Encodes as its WordPiece does, and remembers words: for much text. One a thread.
class WordPieceEncoder {
 public:
    explicit WordPieceEncoder(std::shared_ptr<const WordPiece> wordpiece)
        : wordpiece_(std::move(wordpiece)), words_(wordpiece_->rules().words) {}

    // Appends to out.
    void encode(std::string_view text, std::vector<std::int32_t>& out);

 private:
    std::shared_ptr<const WordPiece> wordpiece_;
    BasicTokenizer words_;
    PieceCache cache_;
};

// folder/vocab.txt. Errors: as read_vocab_txt.
std::shared_ptr<const WordPiece> load_wordpiece(const std::filesystem::path& folder, const WordPieceRules& rules = {});

}  // namespace deft::engine
