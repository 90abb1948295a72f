#pragma once
// The element types of numeric files, named as NumPy does: a kind and a width.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "base/files.h"

namespace deft::engine {

struct NumberType {
    char kind = 'i';  // i: signed integers, u: unsigned ones, f: IEEE floating point
    int bytes = 8;    // an element: 1 (not f), 2 (not f), 4 or 8

    bool operator==(const NumberType&) const = default;
    std::string text() const { return kind + std::to_string(bytes); }  // "i8"
};

template <class T>
constexpr NumberType number_type() {
    const char kind = std::numeric_limits<T>::is_integer ? (std::numeric_limits<T>::is_signed ? 'i' : 'u') : 'f';
    return {kind, static_cast<int>(sizeof(T))};
}

// Calls f.operator()<T>() with the C++ type of `type`.
template <class F>
decltype(auto) with_number_type(NumberType type, F&& f) {
    const bool is_signed = type.kind == 'i';
    if (type == NumberType{'f', 4}) return f.template operator()<float>();
    if (type == NumberType{'f', 8}) return f.template operator()<double>();
    switch (type.bytes) {
        case 1:
            return is_signed ? f.template operator()<std::int8_t>() : f.template operator()<std::uint8_t>();
        case 2:
            return is_signed ? f.template operator()<std::int16_t>() : f.template operator()<std::uint16_t>();
        case 4:
            return is_signed ? f.template operator()<std::int32_t>() : f.template operator()<std::uint32_t>();
        case 8:
            return is_signed ? f.template operator()<std::int64_t>() : f.template operator()<std::uint64_t>();
        default:
            throw std::logic_error("no number type " + type.text());
    }
}

// The narrowest type that holds all of least .. most: unsigned where none is negative, and signed for eight bytes.
constexpr NumberType narrowest_integer(std::int64_t least, std::int64_t most) {
    for (int bytes = 1; bytes < 8; bytes *= 2) {
        const std::int64_t values = std::int64_t{1} << (8 * bytes);
        if (least >= 0 && most < values) return {'u', bytes};
        if (least >= -values / 2 && most < values / 2) return {'i', bytes};
    }
    return {'i', 8};
}

// NumPy's .npy files (format versions 1.0 and 2.0): one-dimensional, little-endian arrays of numbers.

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

// The header that numpy.save writes before `count` elements.
std::string npy_header(NumberType type, std::int64_t count);

// Whole or not at all. Errors: io.
void write_npy(const std::filesystem::path& file, NumberType type, const void* data, std::int64_t count);

template <class T>
void write_npy(const std::filesystem::path& file, std::span<T> values) {
    write_npy(file, number_type<T>(), values.data(), static_cast<std::int64_t>(values.size()));
}

// A .npy file written piece by piece, in any order, whole or not at all.

class NpyOutput {
 public:
    // Errors of all calls: io; the file is then what it was before.
    NpyOutput(const std::filesystem::path& file, NumberType type, std::int64_t count);

    // Elements [first, first + count), of the file's type. May be called from several threads at once.
    void write(std::int64_t first, const void* data, std::int64_t count);
    // All elements are written. The file is in its place once this has returned.
    void finish();

 private:
    AtomicFile file_;
    int width_;
    std::int64_t header_bytes_ = 0;
};

}  // namespace deft::engine
