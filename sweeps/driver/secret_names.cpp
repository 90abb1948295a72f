#include "sweeps/driver/secret_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace deft::sweeps {

namespace {

// Parts of a word, as in PGPASSWORD.
constexpr std::array<std::string_view, 8> kSecretParts = {"password",   "passwd",        "passphrase", "secret",
                                                          "credential", "authorization", "apikey",     "authtoken"};
constexpr std::array<std::string_view, 3> kKeyWords = {"key", "token", "bearer"};
// Beside one of those words: a key or token that opens something.
constexpr std::array<std::string_view, 16> kOwners = {"api",    "access", "auth",  "private", "session", "refresh",
                                                      "client", "aws",    "azure", "hf",      "github",  "gitlab",
                                                      "wandb",  "openai", "slack", "npm"};

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

// "password2": "password".
std::string_view without_number(std::string_view word) {
    return word.substr(0, word.find_last_not_of("0123456789") + 1);
}

bool is_one_of(const auto& list, const std::string& word) {
    return std::ranges::find(list, word) != list.end();
}

}  // namespace

NameOf meaning_of(std::string_view name) {
    const std::vector<std::string> words = words_of(name);
    const std::string& last = words.back();
    if (std::ranges::any_of(kSecretParts, [&](std::string_view part) { return without_number(last).ends_with(part); }))
        return NameOf::a_secret;
    for (const std::string& word : words)
        if (std::ranges::any_of(kSecretParts,
                                [&](std::string_view part) { return word.find(part) != std::string::npos; }))
            return NameOf::about_a_secret;
    if (last == "pwd" && words.size() > 1) return NameOf::a_secret;  // PWD itself is a folder
    if (last == "pass") return NameOf::a_pass;
    if (!is_one_of(kKeyWords, last)) return NameOf::nothing;
    return std::ranges::any_of(words, [](const std::string& word) { return is_one_of(kOwners, word); })
               ? NameOf::a_secret
               : NameOf::a_key;
}

}  // namespace deft::sweeps
