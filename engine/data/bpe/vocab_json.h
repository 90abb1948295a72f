#pragma once
// The entries of a vocab.json with their lines, which the error messages name.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace deft::engine {

struct VocabEntry {
    std::string spelling;  // UTF-8, as in the file
    std::int64_t id = 0;
    int line = 0;
};

// In the file's order; the file may be packed (.gz, .zst). Errors: io, where it cannot be read or ends early; config,
// where it is no JSON object of whole numbers.
std::vector<VocabEntry> read_vocab_json(const std::filesystem::path& file);

}  // namespace deft::engine
