#pragma once
// BERT's vocab.txt: a token a line, in UTF-8; the line number, from 0, is the id. Tokens that begin with ## continue a
// word.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

// Of text in memory; `file` is for the messages.
WordPieceVocabulary parse_vocab_txt(std::string_view text, const std::string& file);

// Errors: io.
void write_vocab_txt(const WordPieceVocabulary& vocabulary, const std::filesystem::path& file);

}  // namespace deft::engine
