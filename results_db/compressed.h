#pragma once
// Long text in one column.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace deft::results_db {

// Empty for an empty text. Errors: memory.
std::vector<std::byte> compressed(const std::string& text);
// Errors: database, for what compressed() did not write, or longer text than any of ours.
std::string decompressed(std::span<const std::byte> bytes);

}  // namespace deft::results_db
