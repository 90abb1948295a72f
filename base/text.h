#pragma once
// Short forms of texts for messages: a first line, a count with its noun, the first of a list, the start of a hash.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deft {

// The first line of a message, which holds its reason.
inline std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

// "1 session", "24 sessions". `many`: a plural other than the noun followed by an s.
std::string counted(std::integral auto count, std::string_view one, std::string_view many = {}) {
    std::string text = std::to_string(count) + ' ';
    if (count == 1) return text.append(one);
    return many.empty() ? text.append(one) + 's' : text.append(many);
}

// "a; help: b": the lines of a message without their indents, for a place that holds one line.
inline std::string in_one_line(std::string_view text) {
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::size_t begin = std::min(text.find_first_not_of(' ', at), end);
        if (begin < end) line.append(line.empty() ? "" : "; ").append(text.substr(begin, end - begin));
        at = end + 1;
    }
    return line;
}

// "a, b and 4 more": the first of a list, and how many are left, with `rest` for what those are.
inline std::string first_of(const std::vector<std::string>& names, std::size_t most, std::string_view rest = "more") {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) (text += i == 0 ? "" : ", ") += names[i];
    if (names.size() > most) text.append(" and ").append(std::to_string(names.size() - most)).append(" ").append(rest);
    return text;
}

// "a; b; and 4 more": likewise of sentences, which have commas.
inline std::string first_sentences(const std::vector<std::string>& all, std::size_t most,
                                   std::string_view rest = "more") {
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) (text += i == 0 ? "" : "; ") += all[i];
    if (all.size() > most) text.append("; and ").append(std::to_string(all.size() - most)).append(" ").append(rest);
    return text;
}

// The start of a hash: long enough to identify it, short enough to read.
inline std::string short_hash(std::string_view hash) {
    return std::string(hash.substr(0, 12));
}

}  // namespace deft
