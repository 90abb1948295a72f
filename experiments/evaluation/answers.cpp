#include "experiments/evaluation/answers.h"

#include <algorithm>

#include "base/utf8.h"
#include "engine/data/bpe/splitter.h"
#include "engine/data/wordpiece/basic_tokenizer.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

namespace {

constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::u32string lower_without_punctuation(std::string_view text) {
    std::u32string result;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        at += character.bytes;
        const bool dropped =
            character.code < 0x80 && kPunctuation.find(static_cast<char>(character.code)) != std::string_view::npos;
        if (!dropped) engine::append_lower_case(character.code, result);
    }
    return result;
}

// Python's \w after punctuation is removed.
bool is_word_character(char32_t code) {
    const engine::CharacterClass of = engine::character_class(code);
    return of == engine::CharacterClass::letter || of == engine::CharacterClass::number;
}

// A run of word characters that is an article becomes a space.
std::u32string without_articles(const std::u32string& text) {
    std::u32string result;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_word_character(text[end])) ++end;
        const std::u32string word = text.substr(at, end - at);
        if (word == U"a" || word == U"an" || word == U"the")
            result += U' ';
        else
            result += word;
        if (end < text.size()) result += text[end++];
        at = end;
    }
    return result;
}

std::vector<std::string> normalised_words(std::string_view text) {
    std::vector<std::string> words;
    bool in_word = false;
    for (const char32_t code : without_articles(lower_without_punctuation(text))) {
        const bool space = is_whitespace(code);
        if (!space && !in_word) words.emplace_back();
        if (!space) append_utf8(code, words.back());
        in_word = !space;
    }
    return words;
}

double words_f1(std::vector<std::string> predicted, std::vector<std::string> answer) {
    if (predicted.empty() || answer.empty()) return predicted.empty() && answer.empty() ? 1 : 0;
    std::sort(predicted.begin(), predicted.end());
    std::sort(answer.begin(), answer.end());
    std::vector<std::string> common;
    std::set_intersection(predicted.begin(), predicted.end(), answer.begin(), answer.end(), std::back_inserter(common));
    if (common.empty()) return 0;
    const auto same = static_cast<double>(common.size());
    const double precision = same / static_cast<double>(predicted.size());
    const double recall = same / static_cast<double>(answer.size());
    return 2 * precision * recall / (precision + recall);
}

}  // namespace

std::vector<std::string> without_prefixed(std::vector<std::string> answers) {
    std::sort(answers.begin(), answers.end());  // bytes of UTF-8 sort as code points do
    std::vector<std::string> kept;
    for (std::string& answer : answers)
        if (kept.empty() || !answer.starts_with(kept.back())) kept.push_back(std::move(answer));
    return kept;
}

std::string normalised_answer(std::string_view text) {
    std::string result;
    for (const std::string& word : normalised_words(text)) result += (result.empty() ? "" : " ") + word;
    return result;
}

double exact_match(std::string_view predicted, const std::vector<std::string>& answers) {
    const std::string normalised = normalised_answer(predicted);
    const auto equal = [&](const std::string& answer) { return normalised_answer(answer) == normalised; };
    return std::any_of(answers.begin(), answers.end(), equal) ? 1 : 0;
}

double answer_f1(std::string_view predicted, const std::vector<std::string>& answers) {
    const std::vector<std::string> words = normalised_words(predicted);
    double best = 0;
    for (const std::string& answer : answers) best = std::max(best, words_f1(words, normalised_words(answer)));
    return best;
}

}  // namespace deft::experiments
