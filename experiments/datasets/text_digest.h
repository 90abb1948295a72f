#pragma once
// What identifies a data file, however it is packed: the hash and the size of its text.

#include <cstdint>
#include <filesystem>
#include <string>

namespace deft::experiments {

struct TextDigest {
    std::string sha256;
    std::int64_t bytes = 0;
};

// Of a plain, .gz or .zst file, unpacked. Errors: io, for truncated or damaged data too.
TextDigest text_digest(const std::filesystem::path& file);

}  // namespace deft::experiments
