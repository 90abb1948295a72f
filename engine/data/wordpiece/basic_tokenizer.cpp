#include "engine/data/wordpiece/basic_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "engine/data/wordpiece/unicode_tables.h"

namespace deft::engine {

namespace {

constexpr bool is_ascii_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

constexpr bool is_ascii_punctuation(char32_t c) {
    return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) || (c >= 0x7B && c <= 0x7E);
}

constexpr auto kAsciiPunctuation = [] {
    std::array<bool, 256> is{};
    for (std::size_t c = 0; c < 128; ++c) is[c] = is_ascii_punctuation(static_cast<char32_t>(c));
    return is;
}();

constexpr bool is_visible_ascii(char c) {
    return c > 0x20 && c < 0x7F;
}

bool is_punctuation(char32_t c) {
    return c < 0x80 ? is_ascii_punctuation(c) : text_class(c) == TextClass::punctuation;
}

// Categories Zl and Zp: no spaces to BERT, but its last split is at whitespace, and they are.
constexpr bool parts_lines(char32_t c) {
    return c == 0x2028 || c == 0x2029;
}

constexpr char32_t kReplacement = 0xFFFD, kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;

// Table 3-17 of Unicode 14: something cased before, nothing cased after, ignorable characters left out.
bool ends_word(const std::u32string& word, std::size_t sigma) {
    std::size_t before = sigma, after = sigma + 1;
    while (before > 0 && casing(word[before - 1]) == Casing::ignorable) --before;
    if (before == 0 || casing(word[before - 1]) != Casing::cased) return false;
    while (after < word.size() && casing(word[after]) == Casing::ignorable) ++after;
    return after == word.size() || casing(word[after]) != Casing::cased;
}

}  // namespace

BasicTokenizer::Chunk BasicTokenizer::next_chunk(std::string_view text, std::size_t from) {
    while (from < text.size() && is_ascii_space(text[from])) ++from;
    Chunk chunk{from, from};
    for (; chunk.end < text.size() && !is_ascii_space(text[chunk.end]); ++chunk.end)
        chunk.simple &= is_visible_ascii(text[chunk.end]);
    return chunk;
}

std::size_t BasicTokenizer::ascii_word_end(std::string_view chunk, std::size_t at) {
    const auto punctuation = [&](std::size_t i) { return kAsciiPunctuation[static_cast<unsigned char>(chunk[i])]; };
    std::size_t end = at + 1;
    if (punctuation(at)) return end;
    while (end < chunk.size() && !punctuation(end)) ++end;
    return end;
}

std::string_view BasicTokenizer::folded_ascii(std::string_view word) {
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (!rules_.lower_case || std::none_of(word.begin(), word.end(), upper)) return word;
    bytes_.assign(word);
    for (char& c : bytes_)
        if (upper(c)) c = static_cast<char>(c | 0x20);
    return bytes_;
}

void BasicTokenizer::clean(std::string_view chunk) {
    clean_.clear();
    for (std::size_t at = 0; at < chunk.size();) {
        const Utf8Character character = decode_utf8(chunk, at);
        at += character.bytes;
        const char32_t code = character.code;
        if (!character.valid || code == kReplacement) continue;
        const TextClass kind = text_class(code);
        if (kind == TextClass::control) continue;
        if (kind == TextClass::private_use && rules_.drop_private_use) continue;
        if (kind == TextClass::unassigned && rules_.drop_unassigned) continue;
        if (kind == TextClass::space || parts_lines(code)) {
            clean_ += U' ';
        } else if (is_cjk_ideograph(code)) {
            clean_ += U' ';
            clean_ += code;
            clean_ += U' ';
        } else {
            clean_ += code;
        }
    }
}

std::size_t BasicTokenizer::fold(std::size_t at) {
    while (at < clean_.size() && clean_[at] == U' ') ++at;
    const std::size_t end = std::min(clean_.find(U' ', at), clean_.size());
    word_.assign(clean_, at, end - at);
    if (rules_.lower_case) {
        lower();
        decompose(word_);
        std::erase_if(word_, [](char32_t c) { return text_class(c) == TextClass::mark; });
    }
    return end;
}

void BasicTokenizer::lower() {
    lowered_.clear();
    for (std::size_t i = 0; i < word_.size(); ++i) {
        if (word_[i] == kCapitalSigma && rules_.final_sigma && ends_word(word_, i))
            lowered_ += kFinalSigma;
        else
            append_lower_case(word_[i], lowered_);
    }
    word_.swap(lowered_);
}

std::size_t BasicTokenizer::next_part(std::size_t at) {
    const bool alone = is_punctuation(word_[at]);
    bytes_.clear();
    append_utf8(word_[at++], bytes_);
    while (!alone && at < word_.size() && !is_punctuation(word_[at])) append_utf8(word_[at++], bytes_);
    return at;
}

}  // namespace deft::engine
