#pragma once
// The element types of numeric files, named as NumPy does: a kind and a width.

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

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

}  // namespace deft::engine
