#pragma once
// BERT's first step: text to words (Devlin et al. 2019, BasicTokenizer of their code). Characters that cannot be seen
// are dropped, ideographs are words, words are lower-cased and lose their accents where the vocabulary is uncased,
// and every punctuation character is a word of its own.

#include <cstdint>
#include <string>
#include <string_view>

namespace deft::engine {

// Where implementations differ. The defaults are those of the original; bytes that are no UTF-8 are dropped, as there.
struct BasicTokenizerRules {
    bool lower_case = true;         // and strip accents: an uncased vocabulary
    bool final_sigma = true;        // a capital sigma that ends a word becomes U+03C2, as Python's str.lower has it
    bool drop_private_use = false;  // category Co, as Hugging Face does
    bool drop_unassigned = false;   // category Cn, as Hugging Face's tokenizers in Python do
};

// One a thread.
class BasicTokenizer {
 public:
    explicit BasicTokenizer(const BasicTokenizerRules& rules) : rules_(rules) {}

    // Calls visit(word) for every word, in order, in UTF-8; a word lives until visit returns.
    template <class Visit>
    void for_each_word(std::string_view text, Visit visit);

 private:
    // A run of bytes between ASCII spaces. `simple`: of visible ASCII characters alone.
    struct Chunk {
        std::size_t begin = 0, end = 0;
        bool simple = true;
    };
    static Chunk next_chunk(std::string_view text, std::size_t from);
    // The end of the word that begins at `at` of a simple chunk.
    static std::size_t ascii_word_end(std::string_view chunk, std::size_t at);
    std::string_view folded_ascii(std::string_view word);

    // Fills clean_: a chunk's characters, with a space wherever words part.
    void clean(std::string_view chunk);
    // Fills word_ from the part of clean_ that begins at `at`; gives the part's end.
    std::size_t fold(std::size_t at);
    void lower();
    // The end, in word_, of the text between punctuation; fills bytes_ with it.
    std::size_t next_part(std::size_t at);

    BasicTokenizerRules rules_;
    std::u32string clean_, word_, lowered_;
    std::string bytes_;
};

template <class Visit>
void BasicTokenizer::for_each_word(std::string_view text, Visit visit) {
    for (Chunk chunk = next_chunk(text, 0); chunk.begin < text.size(); chunk = next_chunk(text, chunk.end)) {
        const std::string_view bytes = text.substr(chunk.begin, chunk.end - chunk.begin);
        if (chunk.simple) {
            for (std::size_t at = 0; at < bytes.size();) {
                const std::size_t end = ascii_word_end(bytes, at);
                visit(folded_ascii(bytes.substr(at, end - at)));
                at = end;
            }
            continue;
        }
        clean(bytes);
        for (std::size_t at = 0; at < clean_.size();) {
            at = fold(at);
            for (std::size_t part = 0; part < word_.size();) {
                part = next_part(part);
                visit(std::string_view(bytes_));
            }
        }
    }
}

// The parts of Unicode 14 that BERT's tokenizer needs.

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

// Appends the full lower case, which does not depend on the character's position.
void append_lower_case(char32_t code, std::u32string& out);

// The classes that decide whether a capital sigma ends a word (Unicode 14, table 3-17).
enum class Casing : std::uint8_t { none, cased, ignorable };
Casing casing(char32_t code);

// Canonical decomposition and ordering, in place (Unicode 14, section 3.11: NFD).
void decompose(std::u32string& text);

}  // namespace deft::engine
