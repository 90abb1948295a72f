#include "engine/data/wordpiece/vocab_txt.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

namespace deft::engine {

namespace {

[[noreturn]] void refuse(const Place& place, const std::string& what, const std::string& fix) {
    throw Error(ErrorKind::config, place, what, fix);
}

void check_token(std::string_view token, const Place& place) {
    if (token.ends_with('\r')) refuse(place, "the line ends in CR LF", "write the file with LF line ends");
    if (token.empty()) refuse(place, "an empty line, where each line is a token", "remove it, or put its token back");
    if (!is_valid_utf8(token)) refuse(place, "no valid UTF-8", "is this a vocab.txt, and whole?");
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (place.line == 1 && token.starts_with(kByteOrderMark))
        refuse(place, "the file begins with a byte order mark, which would belong to its first token", "remove it");
}

}  // namespace

WordPieceVocabulary parse_vocab_txt(std::string_view text, const std::string& file) {
    WordPieceVocabulary vocabulary;
    std::unordered_map<std::string_view, int> line_of;
    std::string_view rest = text;
    for (int line = 1; !rest.empty(); ++line) {
        const std::string_view token = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(token.size() + 1, rest.size()));
        check_token(token, {file, line});
        const auto [known, fresh] = line_of.emplace(token, line);
        if (!fresh)
            refuse({file, line}, fmt::format("token \"{}\" is already on line {}", token, known->second),
                   "each token has one id");
        vocabulary.tokens.emplace_back(token);
    }
    const std::pair<const char*, std::int32_t*> special[] = {{"[PAD]", &vocabulary.pad},
                                                             {"[UNK]", &vocabulary.unk},
                                                             {"[CLS]", &vocabulary.cls},
                                                             {"[SEP]", &vocabulary.sep},
                                                             {"[MASK]", &vocabulary.mask}};
    for (const auto& [name, id] : special) {
        const auto found = line_of.find(name);
        if (found == line_of.end())
            refuse({file}, fmt::format("no token {} among {}", name, vocabulary.tokens.size()),
                   "BERT's vocabularies have [PAD], [UNK], [CLS], [SEP] and [MASK]; add the line");
        *id = found->second - 1;
    }
    return vocabulary;
}

WordPieceVocabulary read_vocab_txt(const std::filesystem::path& file) {
    const std::filesystem::path found = find_text_file(file).value_or(file);
    return parse_vocab_txt(read_text_file(found), found.string());
}

void write_vocab_txt(const WordPieceVocabulary& vocabulary, const std::filesystem::path& file) {
    std::string text;
    for (const std::string& token : vocabulary.tokens) text += token + '\n';
    write_file_atomically(file, text);
}

}  // namespace deft::engine
