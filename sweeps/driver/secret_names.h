#pragma once
// Names of variables, options and fields that say whether their value is a secret.

#include <string_view>

namespace deft::sweeps {

enum class NameOf {
    nothing,
    a_key,           // a key or token of any kind: its value is a secret where it looks random
    about_a_secret,  // a word that follows a password's, as in password_hint: its value is a secret from some length on
    a_pass,          // a password, or a count of passes
    a_secret,        // a password or credential: its value is a secret whatever it looks like
};
NameOf meaning_of(std::string_view name);

}  // namespace deft::sweeps
