#include "sweeps/driver/secret_values.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace deft::sweeps {

namespace {

constexpr std::size_t kLeastAssigned = 4;
constexpr std::string_view kEndsWord = " \t\r\"',;)}";

std::string_view skip_blanks(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
}

bool is_quote(char c) {
    return c == '"' || c == '\'' || c == '`';
}
bool begins_quoted(std::string_view text) {
    return !text.empty() && is_quote(text.front());
}
bool begins_word(std::string_view text) {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

// Long, with letters and digits: such a value is neither a word nor, most often, a part of a program.
bool looks_random(std::string_view value) {
    constexpr std::size_t kLeast = 16;
    const auto has = [&](auto is) { return std::any_of(value.begin(), value.end(), is); };
    return value.size() >= kLeast && has([](unsigned char c) { return std::isdigit(c) != 0; }) &&
           has([](unsigned char c) { return std::isalpha(c) != 0; }) && value.find("::") == std::string_view::npos;
}

// A literal, a statement, a reference such as $NAME, or a call: text without a secret in itself.
bool is_code(std::string_view word) {
    constexpr std::array<std::string_view, 14> kWords = {"true", "false", "True", "False",  "None",  "null",     "nullptr",
                                                         "NULL", "auto",  "pass", "return", "break", "continue", "string"};
    if (std::ranges::find(kWords, word) != kWords.end()) return true;
    const bool is_reference = word.starts_with('$') || word.starts_with('<') || word.starts_with('&');
    return is_reference || word.ends_with(':') || word.ends_with('=') || word.find_first_of("([{") != std::string_view::npos || word.find("::") != std::string_view::npos ||
           word.find("->") != std::string_view::npos;
}

// The value at the beginning of `at`, which is the end of `whole`. `least`: characters of a secret.
TextSpan value_at(std::string_view whole, std::string_view at, NameOf name, std::size_t least) {
    const std::size_t begin = whole.size() - at.size();
    if (begins_quoted(at)) {
        const std::size_t close = at.find(at.front(), 1);
        const std::string_view text = at.substr(1, (close == std::string_view::npos ? at.size() : close) - 1);
        const bool is_secret =
            name == NameOf::a_secret ? text.size() >= least && !text.starts_with('$') : looks_random(text);
        return is_secret ? TextSpan{begin + 1, text.size()} : TextSpan{};
    }
    // A line may be one word of a megabyte with many names in it: its start decides, and all of it is the value.
    constexpr std::size_t kEnough = 128;
    const std::string_view start = at.substr(0, kEnough);
    const std::string_view word = start.substr(0, start.find_first_of(kEndsWord));
    if (name == NameOf::a_secret && word.size() >= least && !is_code(word))
        return {begin, std::min(at.find_first_of(kEndsWord), at.size())};
    const auto token_end = [](std::string_view text) { return std::ranges::find_if_not(text, is_token_character); };
    if (!looks_random({start.begin(), token_end(start)})) return {};
    return {begin, static_cast<std::size_t>(token_end(at) - at.begin())};
}

// "str = x" of "password: str = x": what follows the type.
std::string_view skip_type(std::string_view field) {
    const std::string_view after = skip_blanks(field.substr(std::min(field.find_first_of(" \t="), field.size())));
    return after.starts_with('=') && !after.starts_with("==") ? skip_blanks(after.substr(1)) : field;
}

}  // namespace

bool is_token_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' ||
           c == '+' || c == '=' || c == '~';
}

TextSpan value_after(std::string_view rest, NameOf name) {
    std::string_view at = rest;
    const bool is_quoted_name = begins_quoted(at);
    if (is_quoted_name) at.remove_prefix(1);
    at = skip_blanks(at);
    if (at.starts_with('(') || (is_quoted_name && at.starts_with(','))) {  // set_password("x"), ["--password", "x"]
        at = skip_blanks(at.substr(1));
        return begins_quoted(at) ? value_at(rest, at, name, kLeastAssigned) : TextSpan{};
    }
    if (at.starts_with(":=")) at.remove_prefix(1);
    if (!at.starts_with('=') && !at.starts_with(':')) return {};
    const bool is_field = at.front() == ':';
    at = skip_blanks(at.substr(1));
    if (is_field && !begins_quoted(at)) at = skip_type(at);
    for (const std::string_view scheme : {"Bearer ", "Basic ", "bearer ", "basic "})
        if (at.starts_with(scheme)) at.remove_prefix(scheme.size());
    const TextSpan value = value_at(rest, at, name, kLeastAssigned);
    // Words that follow a field's first word make it prose.
    const bool is_prose = is_field && !begins_quoted(at) && !looks_random(rest.substr(value.begin, value.length)) &&
                          begins_word(skip_blanks(rest.substr(value.begin + value.length)));
    return is_prose ? TextSpan{} : value;
}

TextSpan next_word(std::string_view rest, NameOf name) {
    const std::string_view at = skip_blanks(rest);
    if (at.size() == rest.size() || at.empty() || at.front() == '-') return {};
    return value_at(rest, at, name, 1);
}

bool awaits_value(std::string_view rest) {
    if (begins_quoted(rest)) rest.remove_prefix(1);
    return rest.find_first_not_of(" \t\r=:(|>\\,-") == std::string_view::npos;
}

TextSpan value_alone(std::string_view line, NameOf name) {
    std::string_view at = line;
    if (at.starts_with('+') || at.starts_with('-')) at.remove_prefix(1);
    at = skip_blanks(at);
    const TextSpan value = value_at(line, at, name, kLeastAssigned);
    const std::string_view after = line.substr(value.begin + value.length);
    return after.find_first_not_of(" \t\r\"'`,;)]}\\") == std::string_view::npos ? value : TextSpan{};
}

}  // namespace deft::sweeps
