#pragma once
// NumPy's .npy files (format versions 1.0 and 2.0): one-dimensional, little-endian arrays of numbers.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "engine/io/number_type.h"

namespace deft::engine {

struct Npy {
    const void* data = nullptr;  // aligned to its elements
    std::int64_t count = 0;
    NumberType type;
    std::shared_ptr<const MappedFile> file;

    template <class T>
    std::span<const T> as() const {
        return {static_cast<const T*>(data), static_cast<std::size_t>(count)};
    }
};

// Memory-mapped. Errors: io, for elements that are no integers of 1 to 8 bytes nor floats of 4 or 8, for another rank,
// for Fortran order, for a truncated file.
Npy read_npy(const std::filesystem::path& file);

// What numpy.save writes before `count` elements.
std::string npy_header(NumberType type, std::int64_t count);

// Whole or not at all. Errors: io.
void write_npy(const std::filesystem::path& file, NumberType type, const void* data, std::int64_t count);

template <class T>
void write_npy(const std::filesystem::path& file, std::span<T> values) {
    write_npy(file, number_type<T>(), values.data(), static_cast<std::int64_t>(values.size()));
}

}  // namespace deft::engine
