#pragma once
// Names of variables, options and fields that say whether their value is a secret.

#include <string_view>

namespace deft::sweeps {

enum class NameOf {
    nothing,
    a_key,     // a key or token of any kind: its value is a secret where it looks random
    a_secret,  // a password or credential: its value is a secret whatever it looks like
};
NameOf meaning_of(std::string_view name);

}  // namespace deft::sweeps
