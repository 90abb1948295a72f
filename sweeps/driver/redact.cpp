#include "sweeps/driver/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "sweeps/driver/secret_names.h"
#include "sweeps/driver/secret_values.h"

namespace deft::sweeps {

namespace {

constexpr std::string_view kMark = "[redacted]";
constexpr std::string_view kUrlEnd = " \t\r\"'<>";

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

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::size_t count_while(std::string_view text, bool (*is)(char), std::size_t most = std::string_view::npos) {
    std::size_t count = 0;
    while (count < std::min(text.size(), most) && is(text[count])) ++count;
    return count;
}

// The length of a token that begins here. No form asks for more characters, and a line may be one word of a megabyte.
std::size_t known_token_length(std::string_view rest) {
    constexpr std::size_t kEnough = 64;
    const std::string_view word = rest.substr(0, count_while(rest, is_token_character, kEnough));
    const bool is_known = std::ranges::any_of(
        kTokenForms, [&](const TokenForm& form) { return word.size() >= form.least && word.starts_with(form.prefix); });
    return is_known ? count_while(rest, is_token_character) : 0;
}

// Whether "user", "token", "user:password" or "token:" of a URL holds a secret. Only over HTTP is a name alone a token.
bool is_secret_login(std::string_view login, bool is_http) {
    const std::size_t colon = login.find(':');
    if (colon == std::string_view::npos) return is_http && login != "git" && !is_reference(login);
    const std::string_view user = login.substr(0, colon), password = login.substr(colon + 1);
    return !is_reference(password) && (!password.empty() || !is_reference(user));
}

// The text before the "@" of a URL from its "//" on, or the path of a webhook, whose address is its password.
TextSpan secret_of_url(std::string_view rest, bool is_http) {
    constexpr std::size_t kSlashes = 2, kEnough = 512;
    std::string_view url = rest.substr(0, kEnough);
    url = url.substr(0, url.find_first_of(kUrlEnd));
    const std::size_t host_end = std::min(url.find_first_of("/?#", kSlashes), url.size());
    const std::size_t at_sign = url.substr(0, host_end).rfind('@');
    if (at_sign != std::string_view::npos && at_sign > kSlashes) {
        const std::string_view login = url.substr(kSlashes, at_sign - kSlashes);
        return is_secret_login(login, is_http) ? TextSpan{kSlashes, login.size()} : TextSpan{};
    }
    const bool is_webhook = url.find("webhook") != std::string_view::npos || url.substr(kSlashes).starts_with("hooks.");
    if (!is_webhook || host_end + 1 >= url.size()) return {};
    return {host_end + 1, std::min(rest.find_first_of(kUrlEnd), rest.size()) - host_end - 1};
}

// "user:password" of a line with curl in it, from the end of that option on.
TextSpan credentials_of_curl(std::string_view option, std::string_view rest) {
    if (option.starts_with("-u") && option.size() > 2 && rest.starts_with(':'))  // -uNAME:PASSWORD
        return {0, std::min(rest.find_first_of(kUrlEnd), rest.size())};
    if (option != "-u" && option != "--user" && option != "-U" && option != "--proxy-user") return {};
    const std::size_t begin = std::min(rest.find_first_not_of(" \t=\"'"), rest.size());
    const std::string_view word = rest.substr(begin, rest.find_first_of(kUrlEnd, begin) - begin);
    return is_secret_login(word, false) ? TextSpan{begin, word.size()} : TextSpan{};
}

// A program with the option that takes its password.
struct PasswordOption {
    std::string_view program, option;
    bool is_first;  // its own options come before a command that may have the same
    bool is_glued;  // its value is in the same word
};
constexpr std::array kPasswordOptions = {
    PasswordOption{"sshpass", "-p", true, false},   PasswordOption{"mysql", "-p", false, true},
    PasswordOption{"mysqldump", "-p", false, true}, PasswordOption{"mysqladmin", "-p", false, true},
    PasswordOption{"mariadb", "-p", false, true},   PasswordOption{"redis-cli", "-a", false, false},
};

// From the program's name on.
TextSpan password_of_option(std::string_view program, std::string_view rest) {
    constexpr int kMostWords = 16;
    const auto option = std::ranges::find(kPasswordOptions, program, &PasswordOption::program);
    if (option == kPasswordOptions.end()) return {};
    std::size_t at = 0;
    for (int i = 0; i < kMostWords; ++i) {
        const std::size_t begin = rest.find_first_not_of(" \t", at);
        if (begin == std::string_view::npos || begin == at || rest[begin] == '|' || rest[begin] == ';') return {};
        at = std::min(rest.find_first_of(" \t", begin), rest.size());
        const std::string_view word = rest.substr(begin, at - begin);
        if (option->is_first && !word.starts_with('-')) return {};
        if (!word.starts_with(option->option) || (word == option->option && option->is_glued)) continue;
        const std::size_t value = begin + option->option.size();
        TextSpan secret = word == option->option ? next_word(rest.substr(value), NameOf::a_secret)
                                                 : glued_word(rest.substr(value), NameOf::a_secret);
        secret.begin += value;
        return secret;
    }
    return {};
}

// Goes through a line once, and copies it without its secrets.
class LineRedaction {
 public:
    explicit LineRedaction(std::string_view line)
        : line_(line), has_curl_(line.find("curl") != std::string_view::npos), login_(line.find("login ")) {
        while (at_ < line_.size()) step();
    }

    const std::string& text() const { return out_; }
    // The meaning of the line's last word, where its value is left to the next line.
    NameOf awaited() const { return awaited_; }

 private:
    void step() {
        const std::string_view rest = line_.substr(at_);
        if (rest.starts_with("//"))
            if (redact(secret_of_url(rest, is_http()))) return;
        if (!is_name_character(rest.front())) return copy(1);
        if (redact({0, known_token_length(rest)})) return;
        const std::string_view name = rest.substr(0, count_while(rest, is_name_character));
        const bool is_netrc_password = name == "password" && is_field_of_netrc();
        copy(name.size());
        redact_value_of(name, name.starts_with("--") || is_netrc_password);
    }

    bool is_http() const {
        const std::string_view before = line_.substr(0, at_);
        return before.ends_with("http:") || before.ends_with("https:");
    }

    // A password of a .netrc has a line of its own, or follows the login.
    bool is_field_of_netrc() const { return login_ < at_ || line_.find_first_not_of(" \t+-") == at_; }

    void redact_value_of(std::string_view name, bool is_followed_by_word) {
        const std::string_view rest = line_.substr(at_);
        if (has_curl_ && redact(credentials_of_curl(name, rest))) return;
        if (redact(password_of_option(name, rest))) return;
        const NameOf meaning = meaning_of(name);
        if (meaning == NameOf::nothing || redact(value_after(rest, meaning))) return;
        if (is_followed_by_word && redact(next_word(rest, meaning))) return;
        if (awaits_value(rest)) awaited_ = meaning;
    }

    void copy(std::size_t count) {
        out_ += line_.substr(at_, count);
        at_ += count;
    }

    // `secret` is in the rest of the line. False where there is none.
    bool redact(TextSpan secret) {
        if (secret.length == 0) return false;
        copy(secret.begin);
        out_ += kMark;
        at_ += secret.length;
        return true;
    }

    std::string_view line_;
    bool has_curl_;
    std::size_t login_;  // the place of a .netrc's login
    std::size_t at_ = 0;
    std::string out_;
    NameOf awaited_ = NameOf::nothing;
};

}  // namespace

std::string without_secrets(std::string_view text) {
    std::string out;
    bool in_private_key = false;
    NameOf awaited = NameOf::nothing;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        const bool begins =
            line.find("-----BEGIN ") != std::string_view::npos && line.find("PRIVATE KEY") != std::string_view::npos;
        if (begins) out += kMark;
        in_private_key = in_private_key || begins;
        if (!in_private_key) {
            const TextSpan value = awaited == NameOf::nothing ? TextSpan{} : value_alone(line, awaited);
            const LineRedaction redaction(line);
            if (value.length > 0)
                out.append(line.substr(0, value.begin)).append(kMark).append(line.substr(value.begin + value.length));
            else
                out += redaction.text();
            awaited = redaction.awaited();
        }
        if (end < text.size() && (!in_private_key || begins)) out += '\n';
        if (line.find("-----END ") != std::string_view::npos) in_private_key = false;
        at = end + 1;
    }
    return out;
}

}  // namespace deft::sweeps
