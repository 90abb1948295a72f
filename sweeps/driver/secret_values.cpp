#include "sweeps/driver/secret_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace deft::sweeps {

namespace {

constexpr std::size_t kShort = 3;  // characters
constexpr std::string_view kEscapedQuote = "\\\"";
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

bool has_only_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A literal, a type, a statement, a reference or a call: text without a secret in itself.
bool is_code(std::string_view word) {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"true", "false", "True", "False", "None", "null", "nullptr", "NULL",  "nil",      "yes",    "no",
         "on",   "off",   "0",    "1",     "auto", "pass", "return",  "break", "continue", "string", "str",
         "int",  "bool",  "char", "bytes", "any",  "Any",  "...",     "|",     "|-"});
    if (std::ranges::find(kWords, word) != kWords.end()) return true;
    const bool is_address = word.starts_with('<') || word.starts_with('&');
    return is_address || is_reference(word) || word.ends_with(':') || word.ends_with('=') ||
           word.find_first_of("([{") != std::string_view::npos || word.find("::") != std::string_view::npos ||
           word.find("->") != std::string_view::npos;
}

bool is_secret(std::string_view value, NameOf name, std::size_t least) {
    if (name == NameOf::a_key) return looks_random(value);
    if (value.size() < least) return false;
    return name != NameOf::a_pass || value.size() > kShort || !has_only_digits(value);
}

// A scheme is public; what follows it is not.
std::string_view skip_scheme(std::string_view text) {
    for (const std::string_view scheme : {"Bearer ", "Basic ", "bearer ", "basic ", "token "})
        if (text.starts_with(scheme)) return text.substr(scheme.size());
    return text;
}

// From the opening quote to the closing one, over escaped and doubled quotes and over pieces that a shell joins:
// "a\"b", 'a''b', 'a'\''b'. To the end of the text where nothing closes it.
std::size_t length_of_quoted(std::string_view text) {
    constexpr int kMostPieces = 8;  // a line of a megabyte may have a quote in every place
    std::size_t at = 0;
    for (int piece = 0; piece < kMostPieces && at < text.size() && is_quote(text[at]); ++piece) {
        const char quote = text[at];
        for (++at; at < text.size() && text[at] != quote; ++at)
            if (text[at] == '\\') ++at;
        if (at >= text.size()) return text.size();
        ++at;
        if (at + 1 < text.size() && text[at] == '\\' && is_quote(text[at + 1])) at += 2;
    }
    return std::min(at, text.size());
}

// The secret between two quotes of `mark` characters each.
TextSpan inside_quotes(std::size_t begin, std::string_view quoted, std::size_t mark, bool is_closed, NameOf name,
                       std::size_t least) {
    const std::string_view text = quoted.substr(mark, quoted.size() - mark - (is_closed ? mark : 0));
    const std::string_view value = skip_scheme(text);
    if (!is_secret(value, name, least) || is_reference(value)) return {};
    return {begin + mark + (text.size() - value.size()), value.size()};
}

// The value at the beginning of `at`, which is the end of `whole`. `least`: characters of a secret.
TextSpan value_at(std::string_view whole, std::string_view at, NameOf name, std::size_t least) {
    const std::size_t begin = whole.size() - at.size();
    if (at.starts_with(kEscapedQuote)) {  // inside of a string of a program
        const std::size_t close = at.find(kEscapedQuote, kEscapedQuote.size()), end = std::min(close, at.size());
        const bool is_closed = close != std::string_view::npos;
        return inside_quotes(begin, at.substr(0, end + (is_closed ? kEscapedQuote.size() : 0)), kEscapedQuote.size(),
                             is_closed, name, least);
    }
    if (begins_quoted(at)) {
        const std::string_view quoted = at.substr(0, length_of_quoted(at));
        return inside_quotes(begin, quoted, 1, quoted.size() > 1 && is_quote(quoted.back()), name, least);
    }
    // A line may be one word of a megabyte with many names in it: its start decides, and all of it is the value.
    constexpr std::size_t kEnough = 128;
    const std::string_view start = at.substr(0, kEnough);
    const std::string_view word = start.substr(0, start.find_first_of(kEndsWord));
    if (name != NameOf::a_key && is_secret(word, name, least) && !is_code(word))
        return {begin, std::min(at.find_first_of(kEndsWord), at.size())};
    const auto token_end = [](std::string_view text) { return std::ranges::find_if_not(text, is_token_character); };
    if (!looks_random({start.begin(), token_end(start)})) return {};
    return {begin, static_cast<std::size_t>(token_end(at) - at.begin())};
}

std::size_t least_length(NameOf name) {
    return name == NameOf::about_a_secret ? kShort + 1 : 1;
}

// Whether a setting ends where `after` begins, so that a short word before it is a value: program text goes on.
bool ends_setting(std::string_view after, bool is_tight) {
    const std::string_view more = skip_blanks(after);
    const bool is_at_end = more.empty() || more.front() == '\r' || more.front() == '#';
    return is_at_end || (is_tight && std::string_view(" \t;&|").find(after.front()) != std::string_view::npos);
}

// f"..." and its like.
std::string_view skip_string_prefix(std::string_view at) {
    constexpr std::size_t kMost = 2;
    const std::size_t count = std::min(at.find_first_not_of("fFrRbBuUL"), at.size());
    return count <= kMost && begins_quoted(at.substr(count)) ? at.substr(count) : at;
}

// "str = x" of "password: str = x": what follows the type.
std::string_view skip_type(std::string_view field) {
    const std::string_view after = skip_blanks(field.substr(std::min(field.find_first_of(" \t="), field.size())));
    return after.starts_with('=') && !after.starts_with("==") ? skip_blanks(after.substr(1)) : field;
}

}  // namespace

bool is_reference(std::string_view text) {
    if (text.starts_with("{") && text.ends_with("}")) return text.find('}') == text.size() - 1;  // of a format
    if (!text.starts_with('$') || text.size() < 2) return false;
    text.remove_prefix(1);
    for (const auto& [open, close] : {std::pair('{', '}'), std::pair('(', ')')})
        if (text.starts_with(open)) {  // a word may be cut after its first part
            const std::size_t end = text.find(close);
            return end == std::string_view::npos || text.find_first_not_of(close, end) == std::string_view::npos;
        }
    if (text.find_first_not_of("0123456789@*#?") == std::string_view::npos) return true;
    const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (!std::ranges::all_of(text, is_of_name) || std::isdigit(static_cast<unsigned char>(text.front())) != 0)
        return false;
    // A password may begin with a dollar: variables are in capitals, of several words, or named as what they hold.
    const bool is_lower = std::ranges::any_of(text, [](unsigned char c) { return std::islower(c) != 0; });
    return !is_lower || text.find('_') != std::string_view::npos || text == "pw" || meaning_of(text) != NameOf::nothing;
}

bool is_token_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' ||
           c == '+' || c == '=' || c == '~';
}

TextSpan value_after(std::string_view rest, NameOf name) {
    std::string_view at = rest;
    const bool is_quoted_name = begins_quoted(at) || at.starts_with(kEscapedQuote);
    if (is_quoted_name) at.remove_prefix(at.starts_with(kEscapedQuote) ? kEscapedQuote.size() : 1);
    at = skip_blanks(at);
    if (at.starts_with('(') || (is_quoted_name && at.starts_with(','))) {  // set_password("x"), ["--password", "x"]
        at = skip_string_prefix(skip_blanks(at.substr(1)));
        return begins_quoted(at) ? value_at(rest, at, name, least_length(name)) : TextSpan{};
    }
    if (at.starts_with(":=")) at.remove_prefix(1);
    if (!at.starts_with('=') && !at.starts_with(':')) return {};
    const bool is_field = at.front() == ':',
               is_tight = rest.starts_with('=') && skip_blanks(at.substr(1)) == at.substr(1);
    at = skip_blanks(at.substr(1));
    if (is_field && !begins_quoted(at)) at = skip_type(at);
    at = skip_string_prefix(skip_scheme(at));
    const TextSpan value = value_at(rest, at, name, least_length(name));
    const bool is_quoted = begins_quoted(at) || at.starts_with(kEscapedQuote);
    if (!is_quoted && value.length <= kShort && !ends_setting(rest.substr(value.begin + value.length), is_tight))
        return {};
    if (!is_quoted && value.length <= kShort && name == NameOf::a_pass && !is_tight) return {};
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

TextSpan glued_word(std::string_view rest, NameOf name) {
    return value_at(rest, rest, name, 1);
}

bool awaits_value(std::string_view rest) {
    if (begins_quoted(rest)) rest.remove_prefix(1);
    return rest.find_first_not_of(" \t\r=:(|>\\,-") == std::string_view::npos;
}

TextSpan value_alone(std::string_view line, NameOf name) {
    std::string_view at = line;
    if (at.starts_with('+') || at.starts_with('-')) at.remove_prefix(1);
    at = skip_blanks(at);
    const TextSpan value = value_at(line, at, name, begins_quoted(at) ? least_length(name) : kShort + 1);
    const std::string_view after = line.substr(value.begin + value.length);
    return after.find_first_not_of(" \t\r\"'`,;)]}\\") == std::string_view::npos ? value : TextSpan{};
}

}  // namespace deft::sweeps
