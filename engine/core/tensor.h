#pragma once
// A tensor is a plain view: pointer, element type, shape. Row-major and contiguous; owns nothing.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "kernels/bf16.h"

namespace deft::engine {

// f16 is of files alone: no op computes in it.
enum class DType { f32, f64, bf16, f16, i32, i64, u8 };

std::int64_t size_of(DType dtype);
const char* dtype_name(DType dtype);
// The type of sums over activations of a type: row statistics, losses, gradients of weights, master weights.
DType sum_dtype(DType dtype);

template <class T>
inline constexpr DType dtype_of = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<kernels::bf16> = DType::bf16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;

struct Tensor {
    void* data = nullptr;
    DType dtype = DType::f32;
    int rank = 0;
    std::array<std::int64_t, 4> shape{};

    std::int64_t numel() const;
    std::int64_t bytes() const { return numel() * size_of(dtype); }
    std::int64_t dim(int i) const { return shape[static_cast<std::size_t>(i)]; }
    // Product of all dimensions but the last.
    std::int64_t rows() const { return numel() / dim(rank - 1); }
    std::int64_t columns() const { return dim(rank - 1); }
    explicit operator bool() const { return rank != 0; }

    // Typed pointer; the type must be the tensor's own. A tensor of rank 0 gives null: "not wanted".
    template <class T>
    T* as() const {
        if (rank == 0) return nullptr;
        require_dtype(dtype_of<T>);
        return static_cast<T*>(data);
    }

    // Its elements, of a tensor in the host's memory.
    template <class T>
    std::span<T> elements() const {
        return {as<T>(), static_cast<std::size_t>(numel())};
    }

    // The first elements under another shape of at most as many elements.
    Tensor view(std::initializer_list<std::int64_t> new_shape) const;
    // Elements [first, first + count), flat.
    Tensor part(std::int64_t first, std::int64_t count) const;
    // The i-th slice along the first dimension.
    Tensor slice(std::int64_t i) const;

    std::string shape_text() const;  // "(8, 64, 257) f32"

 private:
    void require_dtype(DType wanted) const;
};

Tensor make_tensor(void* data, DType dtype, std::initializer_list<std::int64_t> shape);

// Throws std::logic_error naming `what` unless the tensor has that shape: a mistake in the program, not in its input.
void check_shape(const Tensor& tensor, std::initializer_list<std::int64_t> shape, const char* what);

}  // namespace deft::engine
