#pragma once
// NumPy's .npy files (format versions 1.0 and 2.0), one-dimensional arrays of little-endian i64.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/mapped_file.h"

namespace deft::engine {

struct Npy {
    std::span<const std::int64_t> values;
    std::shared_ptr<const MappedFile> file;
};

// Memory-mapped. Errors: io, for another element type or rank, for Fortran order, for a truncated file.
Npy read_npy(const std::filesystem::path& file);

// Whole or not at all. Errors: io.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> values);

}  // namespace deft::engine
