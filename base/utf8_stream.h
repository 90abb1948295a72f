#pragma once
// Bytes that come in pieces, handed on as whole characters.

#include <string>
#include <string_view>

namespace deft {

class Utf8Stream {
 public:
    // Appends to `out` what of all bytes so far is whole and was not handed on yet. What is no UTF-8 becomes U+FFFD, one a
    // byte; a character that may yet be completed waits.
    void add(std::string_view bytes, std::string& out);
    // At the end of the text: what still waits is no UTF-8.
    void finish(std::string& out);

 private:
    std::string waiting_;  // less than a character
};

// All of a text at once.
std::string with_valid_utf8(std::string_view text);

}  // namespace deft
