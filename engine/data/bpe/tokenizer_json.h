#pragma once
// tokenizer.json, as Hugging Face's `tokenizers` writes a byte-level byte-pair encoding.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace deft::engine {

struct TokenizerJson {
    std::vector<std::pair<std::string, std::int64_t>> vocab;  // spelling and id, by id
    std::string merges;                                       // "left right" a line, lowest rank first
};

// Takes model.vocab and model.merges, and of added_tokens the mark that ends a document; other added tokens are rows of
// the model that no text has. Errors: io; config, for a tokenizer of another kind than GPT-2's, naming the difference.
TokenizerJson read_tokenizer_json(const std::filesystem::path& file);

}  // namespace deft::engine
