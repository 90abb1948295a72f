#pragma once
// Bytes that come in pieces, handed on as whole characters.

#include <string>
#include <string_view>

namespace deft {

class Utf8Stream {
 public:
    // Appends the complete new characters of all bytes so far to `out`. Each invalid byte becomes U+FFFD; an incomplete
    // character waits for more bytes.
    void add(std::string_view bytes, std::string& out);
    // Ends the text: bytes that still wait are invalid.
    void finish(std::string& out);

 private:
    std::string waiting_;  // less than a character
};

// All of a text at once.
std::string with_valid_utf8(std::string_view text);

}  // namespace deft
