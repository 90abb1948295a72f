#pragma once
// SHA-256 of a file block by block, on all cores: a fast check that a file is as it was written.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace deft::experiments {

inline constexpr std::int64_t kHashedBlockBytes = 16 << 20;

// (blocks of `block_bytes`, the last one shorter). Errors: io.
std::vector<std::string> block_hashes(const std::filesystem::path& file, std::int64_t block_bytes = kHashedBlockBytes);

// The first difference, for people: "block 3 of 7 of tokens.bin is not what was written"; nothing where the file has
// these hashes. Errors: io.
std::optional<std::string> difference_from(const std::filesystem::path& file, const std::vector<std::string>& hashes,
                                           std::int64_t block_bytes = kHashedBlockBytes);

// Identity of a data file, however it is packed: the hash and the size of its text.

struct TextDigest {
    std::string sha256;
    std::int64_t bytes = 0;
};

// Hash of a plain, .gz or .zst file, unpacked. Errors: io, for truncated or damaged data too.
TextDigest text_digest(const std::filesystem::path& file);

// FOLDER/datasets.sha256.json: the hashes of files whose hash the catalogue does not know, as they were when they first
// came into the folder.

// Empty where none is recorded. Errors: io, for a damaged file.
std::string recorded_sha256(const std::filesystem::path& folder, const std::string& name);

// Errors: io.
void record_sha256(const std::filesystem::path& folder, const std::string& name, const std::string& sha256);

}  // namespace deft::experiments
