// The filters of templates.

#include <algorithm>

#include "base/utf8.h"
#include "engine/data/wordpiece/basic_tokenizer.h"
#include "experiments/evaluation/text_template.h"
#include "experiments/evaluation/wikitext.h"

namespace deft::experiments {

namespace {

char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

char ascii_upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// Every shortest [...] is deleted (not across lines), then one pass from the left makes two spaces one.
std::string hellaswag_clean(std::string_view text) {
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') {
            const std::size_t close = text.find_first_of("]\n", i);
            if (close != std::string_view::npos && text[close] == ']') {
                i = close;
                continue;
            }
        }
        kept += text[i];
    }
    std::string result;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        result += kept[i];
        if (kept[i] == ' ' && i + 1 < kept.size() && kept[i + 1] == ' ') ++i;
    }
    return result;
}

// Records whose second context sentence lost its capitalisation get it back: the first letter upper, the rest lower
// (ASCII letters, which is all that such sentences of the data hold), then clean.
std::string hellaswag_restore(std::string_view text) {
    std::string restored(text);
    const bool finished = !text.empty() && std::string_view(".!?\"')").find(text.back()) != std::string_view::npos;
    const std::size_t stop = text.rfind(". ");
    if (!finished && stop != std::string_view::npos && stop + 2 < text.size()) {
        const auto begin = restored.begin() + static_cast<std::ptrdiff_t>(stop) + 2;
        *begin = ascii_upper(*begin);
        std::transform(begin + 1, restored.end(), begin + 1, ascii_lower);
    }
    return hellaswag_clean(restored);
}

std::string strip_filter(std::string_view text) {
    return std::string(strip(text));
}

std::string wikitext_filter(std::string_view text) {
    return wikitext_detokenized(text);
}

// COPA's choices go on with a sentence.
std::string lower_first(std::string_view text) {
    if (text.empty()) return {};
    const Utf8Character first = decode_utf8(text, 0);
    if (!first.valid) return std::string(text);
    std::u32string lower;
    engine::append_lower_case(first.code, lower);
    std::string result;
    for (const char32_t code : lower) append_utf8(code, result);
    return result.append(text.substr(first.bytes));
}

std::string without_last(std::string_view text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.remove_suffix(1);
    if (!text.empty()) text.remove_suffix(1);
    return std::string(text);
}

// The word that joins COPA's premise to its cause or its effect.
std::string copa_connective(std::string_view question) {
    return question == "cause" ? "because" : "therefore";
}

std::string before_blank(std::string_view text) {
    return std::string(text.substr(0, text.find('_')));
}

std::string after_blank(std::string_view text) {
    return std::string(text.substr(text.find('_') + 1));
}

constexpr Filter kFilters[] = {
    {"strip", strip_filter},
    {"lower_first", lower_first},
    {"without_last", without_last},
    {"before_blank", before_blank, "_"},
    {"after_blank", after_blank, "_"},
    {"copa_connective", copa_connective},
    {"hellaswag_clean", hellaswag_clean},
    {"hellaswag_restore", hellaswag_restore},
    {"wikitext_detokenize", wikitext_filter},
};

}  // namespace

const Filter* find_filter(std::string_view name) {
    for (const Filter& filter : kFilters)
        if (name == filter.name) return &filter;
    return nullptr;
}

std::vector<std::string> filter_names() {
    std::vector<std::string> names;
    for (const Filter& filter : kFilters) names.emplace_back(filter.name);
    return names;
}

}  // namespace deft::experiments
