#pragma once
// Text to token ids and back: bytes, or GPT-2's byte-pair encoding with any vocabulary.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/bpe/bpe.h"
#include "engine/data/bpe/pair_map.h"

namespace deft::engine {

// Cheap to copy; copies share what does not change. Safe to use from many threads.
class Tokenizer {
 public:
    // A token is a byte (id = value), id 256 ends a document. Its name is "bytes".
    static Tokenizer bytes();
    explicit Tokenizer(std::shared_ptr<const Bpe> bpe, std::string name);

    std::int32_t vocab() const;  // ids are 0 .. vocab()-1
    std::int32_t end_of_document() const;

    // No special token is recognised inside text, so no text gives end_of_document().
    std::vector<std::int32_t> encode(std::string_view text) const;

    // The exact bytes that were encoded, valid UTF-8 or not; end_of_document() decodes to nothing.
    // Errors: config, for an id that the vocabulary does not have.
    std::string decode(std::span<const std::int32_t> tokens) const;

    // Bytes of text that the token encodes; 0 for end_of_document(). Errors: config, as decode.
    std::int32_t token_bytes(std::int32_t id) const;

    // Hashes what decides the encoding: the tokens by id, the merges by rank, the split rules. Not the name or the
    // files.
    const std::string& sha256() const;
    const std::string& name() const;

    const Bpe* bpe() const;  // null for bytes

 private:
    struct State {
        std::shared_ptr<const Bpe> bpe;
        std::string name;
        std::string sha256;
    };
    explicit Tokenizer(State state);

    std::shared_ptr<const State> state_;
};

// Encodes as its tokenizer does, and remembers pieces: for much text. One a thread.
class Encoder {
 public:
    explicit Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

    // Appends to out.
    void encode(std::string_view text, std::vector<std::int32_t>& out);

 private:
    void encode_piece(std::string_view piece, std::vector<std::int32_t>& out);

    Tokenizer tokenizer_;
    PieceCache cache_;
};

// folder/vocab.json and folder/merges.txt; the tokenizer's name is the folder's. Errors: as read_bpe.
Tokenizer load_tokenizer(const std::filesystem::path& folder);

// The tokenizer that is stored in that folder, under its own name: the byte tokenizer where vocab.json is absent.
// Errors: as read_bpe.
Tokenizer read_stored_tokenizer(const std::filesystem::path& folder, const std::string& name);

// vocab.json, merges.txt and tokenizer.json, which Hugging Face's GPT2Tokenizer and `tokenizers` load.
// Errors: io; config, for the byte tokenizer, which has no files.
void write_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace deft::engine
