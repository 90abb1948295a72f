#include "experiments/evaluation/filters.h"

#include <algorithm>

#include "experiments/evaluation/text.h"

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

constexpr Filter kFilters[] = {
    {"strip", strip_filter},
    {"hellaswag_clean", hellaswag_clean},
    {"hellaswag_restore", hellaswag_restore},
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
