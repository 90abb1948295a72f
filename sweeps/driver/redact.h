#pragma once
// Keys, tokens and passwords in text that is about to be stored.

#include <string>
#include <string_view>

namespace deft::sweeps {

// The text with "[redacted]" in place of what looks like a secret: tokens of known services by their prefixes, private
// keys, JSON web tokens, credentials in URLs and for curl, addresses of webhooks, whatever is given to a name that says
// password, secret or credential, and long values of names that say key or token. It cannot know every secret, and may take
// a harmless value for one.
std::string without_secrets(std::string_view text);

}  // namespace deft::sweeps
