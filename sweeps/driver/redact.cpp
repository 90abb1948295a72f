#include "sweeps/driver/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <vector>

namespace deft::sweeps {

namespace {

constexpr std::string_view kMark = "[redacted]";

// How tokens of well-known services begin, and how many characters they have at least.
struct TokenForm {
    std::string_view prefix;
    std::size_t least;
};
constexpr std::array kTokenForms = {
    TokenForm{"AKIA", 20},        TokenForm{"ASIA", 20},     TokenForm{"AIza", 35},  TokenForm{"ghp_", 36},
    TokenForm{"gho_", 36},        TokenForm{"ghu_", 36},     TokenForm{"ghs_", 36},  TokenForm{"ghr_", 36},
    TokenForm{"github_pat_", 30}, TokenForm{"glpat-", 20},   TokenForm{"hf_", 30},   TokenForm{"sk-", 20},
    TokenForm{"sk_live_", 20},    TokenForm{"rk_live_", 20}, TokenForm{"xoxb-", 20}, TokenForm{"xoxp-", 20},
    TokenForm{"xoxa-", 20},       TokenForm{"xoxs-", 20},    TokenForm{"npm_", 30},  TokenForm{"pypi-", 30},
    TokenForm{"dop_v1_", 30},     TokenForm{"eyJ", 40},
};

// A value with such a name is always a secret. A key or a token is one when its value looks like it.
constexpr std::array<std::string_view, 6> kSecretWords = {"password",    "passwd",        "secret",
                                                          "credentials", "authorization", "apikey"};
constexpr std::array<std::string_view, 3> kKeyWords = {"key", "token", "bearer"};

bool is_token_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' ||
           c == '+' || c == '=' || c == '~';
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_known_token(std::string_view word) {
    return std::any_of(kTokenForms.begin(), kTokenForms.end(), [&](const TokenForm& form) {
        return word.size() >= form.least && word.starts_with(form.prefix);
    });
}

// "hfToken", "HF_TOKEN", "hf-token": "hf", "token".
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    bool was_lower = false;
    for (const char c : name) {
        const auto letter = static_cast<unsigned char>(c);
        const bool starts = std::isalnum(letter) == 0 || (was_lower && std::isupper(letter) != 0);
        if (starts && !words.back().empty()) words.emplace_back();
        if (std::isalnum(letter) != 0) words.back() += static_cast<char>(std::tolower(letter));
        was_lower = std::islower(letter) != 0;
    }
    return words;
}

enum class NameOf { nothing, a_key, a_secret };
NameOf meaning_of(std::string_view name) {
    const auto is_one_of = [](const auto& list, const std::string& word) {
        return std::find(list.begin(), list.end(), word) != list.end();
    };
    const std::vector<std::string> words = words_of(name);
    for (const std::string& word : words)
        if (is_one_of(kSecretWords, word)) return NameOf::a_secret;
    return is_one_of(kKeyWords, words.back()) ? NameOf::a_key : NameOf::nothing;
}

std::string_view skip_blanks(std::string_view text) {
    const std::size_t start = text.find_first_not_of(" \t");
    return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

// Long, with letters and digits: such a value is no word, and hardly a part of a program.
bool looks_random(std::string_view value) {
    constexpr std::size_t kLeast = 16;
    const auto has = [&](auto is) { return std::any_of(value.begin(), value.end(), is); };
    return value.size() >= kLeast && has([](unsigned char c) { return std::isdigit(c) != 0; }) &&
           has([](unsigned char c) { return std::isalpha(c) != 0; }) && value.find("::") == std::string_view::npos;
}

// Of a line the part from the name's end on: where a secret's value begins and how long it is; length 0: none there.
struct Span {
    std::size_t begin = 0, length = 0;
};
Span value_after(std::string_view rest, NameOf name) {
    std::string_view at = rest;
    if (!at.empty() && (at.front() == '"' || at.front() == '\'')) at.remove_prefix(1);  // of a quoted name
    at = skip_blanks(at);
    if (at.starts_with(":=")) at.remove_prefix(1);
    if (at.empty() || (at.front() != '=' && at.front() != ':')) return {};
    at = skip_blanks(at.substr(1));
    for (const std::string_view scheme : {"Bearer ", "Basic ", "bearer ", "basic "})
        if (at.starts_with(scheme)) at.remove_prefix(scheme.size());
    constexpr std::size_t kLeastQuoted = 4;
    if (!at.empty() && (at.front() == '"' || at.front() == '\'')) {
        const std::size_t close = at.find(at.front(), 1);
        const std::size_t length = (close == std::string_view::npos ? at.size() : close) - 1;
        const bool secret = name == NameOf::a_secret ? length >= kLeastQuoted : looks_random(at.substr(1, length));
        if (!secret) return {};
        return {rest.size() - at.size() + 1, length};
    }
    std::size_t length = 0;
    while (length < at.size() && is_token_character(at[length])) ++length;
    if (!looks_random(at.substr(0, length))) return {};
    return {rest.size() - at.size(), length};
}

// "//user:password@host": the length of "user:password" behind the slashes, 0 where there is none.
std::size_t credentials_length(std::string_view rest) {
    const std::size_t end = rest.find_first_of("@/ \t\"'<>");
    if (end == std::string_view::npos || rest[end] != '@') return 0;
    const std::size_t colon = rest.find(':');
    return colon != std::string_view::npos && colon < end ? end : 0;
}

std::string redacted_line(std::string_view line) {
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        const std::string_view rest = line.substr(at);
        if (rest.starts_with("//"))
            if (const std::size_t length = credentials_length(rest.substr(2)); length > 0) {
                (out += "//") += kMark;
                at += 2 + length;
                continue;
            }
        if (!is_name_character(rest.front())) {
            out += rest.front();
            ++at;
            continue;
        }
        // No form asks for more characters, and a line may be one word of a megabyte.
        constexpr std::size_t kEnough = 64;
        std::size_t word = 0;
        while (word < std::min(rest.size(), kEnough) && is_token_character(rest[word])) ++word;
        if (is_known_token(rest.substr(0, word))) {
            while (word < rest.size() && is_token_character(rest[word])) ++word;
            out += kMark;
            at += word;
            continue;
        }
        std::size_t name = 0;
        while (name < rest.size() && is_name_character(rest[name])) ++name;
        out += rest.substr(0, name);
        at += name;
        const NameOf meaning = meaning_of(rest.substr(0, name));
        if (meaning == NameOf::nothing) continue;
        if (const Span value = value_after(line.substr(at), meaning); value.length > 0) {
            (out += line.substr(at, value.begin)) += kMark;
            at += value.begin + value.length;
        }
    }
    return out;
}

}  // namespace

std::string without_secrets(std::string_view text) {
    std::string out;
    bool in_private_key = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        const bool begins =
            line.find("-----BEGIN ") != std::string_view::npos && line.find("PRIVATE KEY") != std::string_view::npos;
        if (begins) out += kMark;
        in_private_key = in_private_key || begins;
        if (!in_private_key) out += redacted_line(line);
        if (end < text.size() && (!in_private_key || begins)) out += '\n';
        if (line.find("-----END ") != std::string_view::npos) in_private_key = false;
        at = end + 1;
    }
    return out;
}

}  // namespace deft::sweeps
