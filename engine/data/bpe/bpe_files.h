#pragma once
// vocab.json and merges.txt, as OpenAI and Hugging Face write them.

#include <filesystem>
#include <vector>

#include "engine/data/bpe/bpe.h"

namespace deft::engine {

// Written in vocab.json; it ends a document and no text makes it.
inline constexpr const char* kEndOfText = "<|endoftext|>";

// The files of write_bpe(); read_bpe() reads the first two, or the last one alone.
inline constexpr const char* kBpeFiles[] = {"vocab.json", "merges.txt", "tokenizer.json"};

// The files that read_bpe() reads; none where the folder has no tokenizer.
std::vector<std::filesystem::path> bpe_files_in(const std::filesystem::path& folder);

// folder/vocab.json: {"token": id, ...}, ids 0 to n-1 without holes. folder/merges.txt: "#version..." and then "left
// right" a line, lowest rank first. Tokens that no merge makes must be bytes or look like <this>: they are never
// encoded. Each file may be packed, as .gz or .zst. Where neither of the two is there, folder/tokenizer.json. Errors:
// io, where a file cannot be read or is truncated; config, with the line, where the two make no vocabulary.
BpeVocabulary read_bpe(const std::filesystem::path& folder);

// Writes vocab.json and merges.txt, and the same as tokenizer.json of Hugging Face's `tokenizers`. Makes the folder.
// Errors: io.
void write_bpe(const BpeVocabulary& vocabulary, const std::filesystem::path& folder);

}  // namespace deft::engine
