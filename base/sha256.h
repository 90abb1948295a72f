#pragma once
// SHA-256 through libcrypto, as 64 lower-case hex digits.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace deft {

std::string sha256(std::string_view bytes);

// Errors: io, when the file cannot be read.
std::string sha256_file(const std::filesystem::path& file);

}  // namespace deft
