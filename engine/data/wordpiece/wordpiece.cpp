#include "engine/data/wordpiece/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace deft::engine {

namespace {

constexpr std::int32_t kWordStart = 0, kWordRest = 1;

std::uint64_t edge(std::int32_t node, char byte) {
    return token_pair(node, static_cast<unsigned char>(byte));
}

std::string canonical_text(const WordPieceVocabulary& vocabulary, const WordPieceRules& rules) {
    std::string text =
        fmt::format("WordPiece, Unicode 14: lower case {}, final sigma {}, drop Co {}, drop Cn {}, words of {}\n",
                    rules.words.lower_case, rules.words.final_sigma, rules.words.drop_private_use,
                    rules.words.drop_unassigned, rules.max_code_points);
    for (const std::string& token : vocabulary.tokens) text += token + '\n';
    return text;
}

}  // namespace

WordPieceRules hugging_face_rules(bool lower_case) {
    return {.words = {.lower_case = lower_case, .final_sigma = false, .drop_private_use = true}};
}

WordPiece::WordPiece(WordPieceVocabulary vocabulary, const WordPieceRules& rules)
    : vocabulary_(std::move(vocabulary)),
      rules_(rules),
      sha256_(deft::sha256(canonical_text(vocabulary_, rules_))),
      child_(4 * vocabulary_.tokens.size()),
      token_of_node_(2, -1) {
    for (std::int32_t id = 0; id < vocab(); ++id) {
        const std::string_view token = vocabulary_.tokens[static_cast<std::size_t>(id)];
        const bool continues = token.starts_with(kContinuation) && token.size() > kContinuation.size();
        continues_.push_back(continues);
        add_to_trie(continues ? token.substr(kContinuation.size()) : token, continues, id);
    }
}

void WordPiece::add_to_trie(std::string_view bytes, bool continues, std::int32_t id) {
    std::int32_t node = continues ? kWordRest : kWordStart;
    for (const char byte : bytes) {
        const auto fresh = static_cast<std::int32_t>(token_of_node_.size());
        node = child_.insert(edge(node, byte), fresh);
        if (node == fresh) token_of_node_.push_back(-1);
    }
    token_of_node_[static_cast<std::size_t>(node)] = id;
}

void WordPiece::encode_word(std::string_view word, std::vector<std::int32_t>& out) const {
    const std::size_t before = out.size();
    // No word has more code points than bytes.
    bool known = word.size() <= static_cast<std::size_t>(rules_.max_code_points) ||
                 count_code_points(word) <= rules_.max_code_points;
    for (std::size_t begin = 0; known && begin < word.size();) {
        std::int32_t node = begin == 0 ? kWordStart : kWordRest, longest = -1;
        std::size_t end = begin;
        for (std::size_t at = begin; at < word.size(); ++at) {
            node = child_.find(edge(node, word[at]));
            if (node < 0) break;
            if (const std::int32_t token = token_of_node_[static_cast<std::size_t>(node)]; token >= 0) {
                longest = token;
                end = at + 1;
            }
        }
        known = longest >= 0;
        if (known) out.push_back(longest);
        begin = end;
    }
    if (known) return;
    out.resize(before);
    out.push_back(vocabulary_.unk);
}

std::vector<std::int32_t> WordPiece::encode(std::string_view text) const {
    std::vector<std::int32_t> tokens;
    BasicTokenizer words(rules_.words);
    words.for_each_word(text, [&](std::string_view word) { encode_word(word, tokens); });
    return tokens;
}

std::string WordPiece::decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t id : tokens) {
        if (id < 0 || id >= vocab())
            throw Error(ErrorKind::config,
                        fmt::format("token {} is not of this vocabulary, whose ids are 0 to {}", id, vocab() - 1),
                        "use the vocabulary that the tokens were made with");
        const std::string& token = vocabulary_.tokens[static_cast<std::size_t>(id)];
        const bool joined = continues_word(id) && !text.empty();
        if (!joined && !text.empty()) text += ' ';
        text.append(token, joined ? kContinuation.size() : 0);
    }
    return text;
}

void WordPieceEncoder::encode(std::string_view text, std::vector<std::int32_t>& out) {
    words_.for_each_word(text, [&](std::string_view word) {
        if (word.size() > PieceCache::kMaxBytes) return wordpiece_->encode_word(word, out);
        const PieceCache::Found found = cache_.find(word);
        if (found.known) {
            out.insert(out.end(), found.entry.tokens.begin(), found.entry.tokens.begin() + found.entry.count);
            return;
        }
        const std::size_t before = out.size();
        wordpiece_->encode_word(word, out);
        PieceCache::keep(found, word, std::span(out).subspan(before));
    });
}

std::shared_ptr<const WordPiece> load_wordpiece(const std::filesystem::path& folder, const WordPieceRules& rules) {
    return std::make_shared<const WordPiece>(read_vocab_txt(folder / kVocabTxt), rules);
}

namespace {

[[noreturn]] void refuse_wordpiece(const Place& place, const std::string& what, const std::string& fix) {
    throw Error(ErrorKind::config, place, what, fix);
}

void check_token(std::string_view token, const Place& place) {
    if (token.ends_with('\r')) refuse_wordpiece(place, "the line ends in CR LF", "write the file with LF line ends");
    if (token.empty())
        refuse_wordpiece(place, "an empty line, where each line is a token", "remove it, or put its token back");
    if (!is_valid_utf8(token)) refuse_wordpiece(place, "no valid UTF-8", "is this a vocab.txt, and whole?");
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (place.line == 1 && token.starts_with(kByteOrderMark))
        refuse_wordpiece(place, "the file begins with a byte order mark, which would belong to its first token",
                         "remove it");
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
            refuse_wordpiece({file, line}, fmt::format("token \"{}\" is already on line {}", token, known->second),
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
            refuse_wordpiece({file}, fmt::format("no token {} among {}", name, vocabulary.tokens.size()),
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
