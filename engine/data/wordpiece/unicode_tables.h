#pragma once
// What BERT's tokenizer asks of Unicode 14.

#include <cstdint>
#include <string>

namespace deft::engine {

enum class TextClass : std::uint8_t {
    other,
    space,        // Zs
    control,      // Cc and Cf: tab, line feed and carriage return are among them
    private_use,  // Co
    unassigned,   // Cn
    mark,         // Mn: accents
    punctuation,  // P*: of ASCII's symbols $ + < = > ^ ` | ~ are not
};

TextClass text_class(char32_t code);

// The blocks that BERT spaces out; kana, hangul and later extensions are not among them.
bool is_cjk_ideograph(char32_t code);

// Appends the full lower case, the same wherever the character stands.
void append_lower_case(char32_t code, std::u32string& out);

// What decides whether a capital sigma ends a word (Unicode 14, table 3-17).
enum class Casing : std::uint8_t { none, cased, ignorable };
Casing casing(char32_t code);

// Canonical decomposition and ordering, in place (Unicode 14, section 3.11: NFD).
void decompose(std::u32string& text);

}  // namespace deft::engine
