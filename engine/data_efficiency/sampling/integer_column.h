#pragma once
// A column of integers, each of one, two, four or eight bytes: as narrow as they fit, read as 64-bit ones.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/io/npy.h"

namespace deft::engine {

// A view; whoever makes it keeps the memory.
struct IntegerColumn {
    const void* data = nullptr;
    std::int64_t count = 0;
    NumberType type;  // of kind i or u; u8 is not read

    std::int64_t size() const { return count; }
    std::int64_t operator[](std::int64_t i) const {
        const bool is_signed = type.kind == 'i';
        switch (type.bytes) {
            case 1:
                return is_signed ? at<std::int8_t>(i) : at<std::uint8_t>(i);
            case 2:
                return is_signed ? at<std::int16_t>(i) : at<std::uint16_t>(i);
            case 4:
                return is_signed ? at<std::int32_t>(i) : at<std::uint32_t>(i);
            default:
                return at<std::int64_t>(i);
        }
    }
    template <class T>
    std::span<const T> as() const {
        return {static_cast<const T*>(data), static_cast<std::size_t>(count)};
    }

    class Iterator {
     public:
        using iterator_category = std::input_iterator_tag;  // it gives values, no references
        using value_type = std::int64_t;
        using difference_type = std::int64_t;
        using pointer = const std::int64_t*;
        using reference = std::int64_t;

        Iterator(const IntegerColumn& column, std::int64_t i) : column_(&column), i_(i) {}
        std::int64_t operator*() const { return (*column_)[i_]; }
        Iterator& operator++() {
            ++i_;
            return *this;
        }
        Iterator operator++(int) { return {*column_, i_++}; }
        bool operator==(const Iterator& other) const { return i_ == other.i_; }

     private:
        const IntegerColumn* column_;
        std::int64_t i_;
    };
    // The iterators point at this view: they end with it.
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, count}; }

 private:
    template <class T>
    std::int64_t at(std::int64_t i) const {
        return static_cast<std::int64_t>(static_cast<const T*>(data)[i]);
    }
};

// Integers in memory with their view.
struct OwnedColumn {
    std::shared_ptr<const std::vector<std::byte>> bytes;
    IntegerColumn column;
};

// A copy as narrow as it fits.
OwnedColumn narrow_copy(std::span<const std::int64_t> values);

// A type that IntegerColumn reads.
constexpr bool is_integer_column(NumberType type) {
    return type.kind != 'f' && type != NumberType{'u', 8};
}

// The least and the largest element; {0, 0} of none.
std::pair<std::int64_t, std::int64_t> range_of(const IntegerColumn& column);

// The elements as `type`, which holds them.
std::vector<std::byte> converted(const IntegerColumn& column, NumberType type);

}  // namespace deft::engine
