#include "engine/data/bert/sentence_corpus.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/utf8.h"

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

namespace {

constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

constexpr bool is_stop(char32_t c) {
    return c == '.' || c == '!' || c == '?' || c == 0x2026;
}

constexpr bool is_ideographic_stop(char32_t c) {
    return c == 0x3002 || c == 0xFF01 || c == 0xFF1F;
}

constexpr bool is_closing(char32_t c) {
    constexpr char32_t kClosing[] = {'"', '\'', ')', ']', '}', 0xBB, 0x2019, 0x201D, 0x300D, 0x300F, 0xFF09};
    return std::find(std::begin(kClosing), std::end(kClosing), c) != std::end(kClosing);
}

// Whether the word that ends before the stop at `at` is an initial or a short form that a name or number follows.
bool is_short_form(std::string_view text, std::size_t at) {
    constexpr std::string_view kShortForms[] = {"Mr",   "Mrs", "Ms",  "Dr", "Prof", "Rev", "Hon", "St", "Gen", "Col",
                                                "Capt", "Lt",  "Sgt", "No", "Fig",  "Vol", "vs",  "cf", "e.g", "i.e"};
    std::size_t begin = at;
    while (begin > 0 && !is_space(text[begin - 1]) && text[begin - 1] != '(') --begin;
    const std::string_view word = text.substr(begin, at - begin);
    if (word.size() == 1) return is_capital(word[0]);
    return std::find(std::begin(kShortForms), std::end(kShortForms), word) != std::end(kShortForms);
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
    while (at < text.size() && is_space(text[at])) ++at;
    return at;
}

template <class Is>
std::size_t skip(std::string_view text, std::size_t at, Is is) {
    while (at < text.size()) {
        const Utf8Character next = decode_utf8(text, at);
        if (!next.valid || !is(next.code)) break;
        at += next.bytes;
    }
    return at;
}

// The end of the sentence that a stop at `at` closes, or 0 where it closes none.
std::size_t end_at_stop(std::string_view text, std::size_t at) {
    const char32_t stop = decode_utf8(text, at).code;
    if (is_ideographic_stop(stop)) return skip(text, skip(text, at, is_ideographic_stop), is_closing);
    const std::size_t after = skip(text, at, is_stop);
    const bool one_full_stop = stop == '.' && after == at + 1;
    if (one_full_stop && is_short_form(text, at)) return 0;
    const std::size_t end = skip(text, after, is_closing), next = skip_spaces(text, end);
    if (next == text.size()) return end;
    const bool goes_on = next == end || (text[next] >= 'a' && text[next] <= 'z');
    return goes_on ? 0 : end;
}

bool is_empty_line(std::string_view text, std::size_t line_feed) {
    const std::size_t next = text.find_first_not_of(" \t\r", line_feed + 1);
    return next != std::string_view::npos && text[next] == '\n';
}

// The end of the sentence that begins at `begin`, which is not a space.
std::size_t sentence_end(std::string_view text, std::size_t begin, SentenceRule rule) {
    if (rule == SentenceRule::lines) return std::min(text.find('\n', begin), text.size());
    for (std::size_t at = begin; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        if (character.code == '\n' && is_empty_line(text, at)) return at;
        if (is_stop(character.code) || is_ideographic_stop(character.code)) {
            if (const std::size_t end = end_at_stop(text, at); end > 0) return end;
            at = skip(text, at, is_stop);
        } else {
            at += character.bytes;
        }
    }
    return text.size();
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view text, SentenceRule rule) {
    std::vector<std::string_view> sentences;
    for (std::size_t begin = skip_spaces(text, 0); begin < text.size();) {
        const std::size_t end = sentence_end(text, begin, rule);
        std::size_t last = end;
        while (last > begin && is_space(text[last - 1])) --last;
        sentences.push_back(text.substr(begin, last - begin));
        begin = skip_spaces(text, end);
    }
    return sentences;
}

}  // namespace deft::engine
