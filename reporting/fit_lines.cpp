#include "reporting/fit_lines.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr int kIndent = 2;
constexpr std::string_view kContinued = " \\";

struct Word {
    std::string_view gap;  // the spaces before it
    std::string_view text;
};

bool is_command(std::string_view text) {
    const bool is_sentence = text.ends_with('.');
    return !is_sentence &&
           (text.starts_with("./deft ") || text.starts_with("deft ") || text.starts_with("git checkout "));
}

// A command's quoted words stay whole, and its options stay beside their values.
std::size_t end_of_word(std::string_view text, std::size_t begin, bool is_in_command) {
    bool is_quoted = false;
    std::size_t at = begin;
    for (; at < text.size() && (text[at] != ' ' || is_quoted); ++at)
        if (text[at] == '\'' && is_in_command) is_quoted = !is_quoted;
    const bool is_option = is_in_command && text.substr(begin).starts_with("--");
    const bool has_value = is_option && at + 1 < text.size() && text[at + 1] != '-' && text[at + 1] != ' ';
    return has_value ? end_of_word(text, at + 1, true) : at;
}

std::vector<Word> words_of(std::string_view text, bool is_command) {
    std::vector<Word> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
        const std::size_t end = end_of_word(text, begin, is_command);
        if (end > begin) words.push_back({text.substr(at, begin - at), text.substr(begin, end - begin)});
        at = end;
    }
    return words;
}

std::string spaces(int count) {
    return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

int indent_of(std::string_view line) {
    return static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
}

// The byte at which each column of the line begins after the first: two spaces or more are before it.
std::vector<std::size_t> column_starts(std::string_view line) {
    std::vector<std::size_t> starts;
    for (std::size_t at = line.find_first_not_of(' '); at < line.size();) {
        at = line.find("  ", at);
        if (at == std::string_view::npos) break;
        at = line.find_first_not_of(' ', at);
        if (at < line.size()) starts.push_back(at);
    }
    return starts;
}

// The part of a line that continues below itself.
struct Split {
    std::string before;  // the names and marks at its left
    std::string_view value;
    int hang = 0;  // the columns before each further line
};

// A value that begins in the right half of the terminal goes below its name.
Split split_line(std::string_view line, int width, std::vector<std::string>& lines) {
    const int indent = indent_of(line);
    std::optional<std::size_t> start;
    const std::vector<std::size_t> starts = column_starts(line);
    for (const std::size_t at : starts)
        if (display_width(line.substr(0, at)) <= width / 2) start = at;
    if (!start && !starts.empty()) {
        std::string name(line.substr(0, starts.front()));
        name.erase(name.find_last_not_of(' ') + 1);
        lines.push_back(std::move(name));
        return {spaces(indent + 2 * kIndent), line.substr(starts.front()), indent + 2 * kIndent};
    }
    const std::size_t at = start.value_or(static_cast<std::size_t>(indent));
    const std::string_view value = line.substr(at);
    const int column = display_width(line.substr(0, at));
    const bool hangs_further = !start || value.starts_with("- ");
    return {std::string(line.substr(0, at)), value, column + (hangs_further ? kIndent : 0)};
}

void fit_line(std::string_view line, int width, std::vector<std::string>& lines) {
    const auto [before, value, hang] = split_line(line, width, lines);
    const bool command = is_command(value);
    const int room = width - (command ? static_cast<int>(kContinued.size()) : 0);
    std::string out = before;
    bool has_words = false;
    const auto close = [&](bool is_last) {
        out.erase(out.find_last_not_of(' ') + 1);
        if (command && has_words && !is_last) out += kContinued;
        if (!out.empty()) lines.push_back(out);
        has_words = false;
    };
    for (const Word& word : words_of(value, command)) {
        const int size = display_width(word.text);
        const std::string gap = has_words ? std::string(word.gap) : "";
        const bool is_blank = out.find_first_not_of(' ') == std::string::npos;
        if (is_blank || display_width(out + gap) + size <= room) {
            out.append(gap).append(word.text);
        } else {
            // A word that is too long for the column of values begins further left.
            const int nearer = std::min(hang, indent_of(line) + 2 * kIndent);
            close(false);
            out = spaces(hang + size <= room ? hang : nearer);
            out.append(word.text);
        }
        has_words = true;
    }
    close(true);
}

}  // namespace

std::string fit_lines(const std::string& text, int width) {
    if (width <= 0) return text;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = std::string_view(text).substr(at, end - at);
        std::vector<std::string> lines;
        if (display_width(line) <= width)
            lines.emplace_back(line);
        else
            fit_line(line, width, lines);
        for (std::size_t i = 0; i < lines.size(); ++i) out.append(i > 0 ? "\n" : "").append(lines[i]);
        if (end < text.size()) out += '\n';
        at = end + 1;
    }
    return out;
}

}  // namespace deft::reporting
