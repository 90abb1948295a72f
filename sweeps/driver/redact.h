#pragma once
// Keys, tokens and passwords in text that is about to be stored.

#include <string>
#include <string_view>

namespace deft::sweeps {

// The text with "[redacted]" in place of what looks like a secret. Tokens of known services show by their prefixes,
// private keys and JSON web tokens by their form, credentials by their place in URLs and curl's options, webhooks by
// their address. A name that says password, secret or credential makes any value a secret, one that says key or token a
// long value. It cannot know every secret, and may take a harmless value for one.
std::string without_secrets(std::string_view text);

}  // namespace deft::sweeps
