#include "engine/data/wordpiece/basic_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>

#include "base/utf8.h"

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

namespace {

template <class Value>
struct TextRange {
    char32_t first, last;
    Value value;
};

struct LowerCase {
    char32_t first, last, stride;
    std::int32_t added;
};

struct Decomposition {
    char32_t code;
    char32_t parts[4];  // 0 after the last
};

constexpr TextRange<TextClass> kTextClasses[] = {
#include "engine/data/wordpiece/text_classes.inc"
};
constexpr TextRange<Casing> kCasing[] = {
#include "engine/data/wordpiece/casing.inc"
};
constexpr TextRange<std::uint8_t> kCombiningClasses[] = {
#include "engine/data/wordpiece/combining_classes.inc"
};
constexpr LowerCase kLowerCase[] = {
#include "engine/data/wordpiece/lower_case.inc"
};
constexpr Decomposition kDecompositions[] = {
#include "engine/data/wordpiece/decompositions.inc"
};

// The last row that begins at `code` or before and does not end before it, or null.
template <class Row, std::size_t rows>
const Row* find_range(const Row (&table)[rows], char32_t code) {
    const Row* after = std::upper_bound(std::begin(table), std::end(table), code,
                                        [](char32_t c, const Row& row) { return c < row.first; });
    if (after == std::begin(table)) return nullptr;
    const Row* row = std::prev(after);
    return code <= row->last ? row : nullptr;
}

std::uint8_t combining_class(char32_t code) {
    if (code < 0x300) return 0;
    const auto* row = find_range(kCombiningClasses, code);
    return row == nullptr ? 0 : row->value;
}

constexpr char32_t kDottedCapitalI = 0x130, kCombiningDotAbove = 0x307;

// Hangul syllables decompose by arithmetic (Unicode 14, section 3.12).
constexpr char32_t kSyllables = 0xAC00, kSyllableCount = 11172, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kVowelCount = 21, kTailCount = 28;

void append_decomposition(char32_t code, std::u32string& out) {
    if (code - kSyllables < kSyllableCount) {
        const char32_t syllable = code - kSyllables;
        out += kLeads + syllable / (kVowelCount * kTailCount);
        out += kVowels + syllable / kTailCount % kVowelCount;
        if (syllable % kTailCount != 0) out += kTails + syllable % kTailCount;
        return;
    }
    const Decomposition* found = std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), code,
                                                  [](const Decomposition& row, char32_t c) { return row.code < c; });
    if (found == std::end(kDecompositions) || found->code != code) {
        out += code;
        return;
    }
    for (const char32_t part : found->parts)
        if (part != 0) out += part;
}

// Every run of characters with a combining class, sorted by it; equal ones keep their order.
void order_marks(std::u32string& text) {
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        if (combining_class(text[begin]) == 0) continue;
        std::size_t end = begin + 1;
        while (end < text.size() && combining_class(text[end]) != 0) ++end;
        std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin),
                         text.begin() + static_cast<std::ptrdiff_t>(end),
                         [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
        begin = end;
    }
}

}  // namespace

TextClass text_class(char32_t code) {
    const auto* row = find_range(kTextClasses, code);
    return row == nullptr ? TextClass::other : row->value;
}

bool is_cjk_ideograph(char32_t code) {
    constexpr std::pair<char32_t, char32_t> kBlocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                                         {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                                         {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    if (code < kBlocks[0].first) return false;
    return std::any_of(std::begin(kBlocks), std::end(kBlocks),
                       [&](const auto& block) { return code >= block.first && code <= block.second; });
}

void append_lower_case(char32_t code, std::u32string& out) {
    if (code == kDottedCapitalI) {
        out += U'i';
        out += kCombiningDotAbove;
        return;
    }
    const LowerCase* row = find_range(kLowerCase, code);
    const bool has_lower = row != nullptr && (code - row->first) % row->stride == 0;
    out += has_lower ? static_cast<char32_t>(static_cast<std::int32_t>(code) + row->added) : code;
}

Casing casing(char32_t code) {
    const auto* row = find_range(kCasing, code);
    return row == nullptr ? Casing::none : row->value;
}

void decompose(std::u32string& text) {
    constexpr char32_t kFirstDecomposed = 0xC0;
    if (std::all_of(text.begin(), text.end(), [](char32_t c) { return c < kFirstDecomposed; })) return;
    std::u32string parts;
    parts.reserve(text.size() + 8);
    for (const char32_t code : text) append_decomposition(code, parts);
    order_marks(parts);
    text.swap(parts);
}

}  // namespace deft::engine
