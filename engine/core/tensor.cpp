#include "engine/core/tensor.h"

#include <fmt/format.h>

#include <stdexcept>

namespace deft::engine {

std::int64_t size_of(DType dtype) {
    switch (dtype) {
        case DType::u8:
            return 1;
        case DType::bf16:
        case DType::f16:
            return 2;
        case DType::f32:
        case DType::i32:
            return 4;
        case DType::f64:
        case DType::i64:
            return 8;
    }
    return 0;
}

const char* dtype_name(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "f32";
        case DType::f64:
            return "f64";
        case DType::bf16:
            return "bf16";
        case DType::f16:
            return "f16";
        case DType::i32:
            return "i32";
        case DType::i64:
            return "i64";
        case DType::u8:
            return "u8";
    }
    return "?";
}

DType sum_dtype(DType dtype) {
    return dtype == DType::bf16 ? DType::f32 : dtype;
}

Tensor make_tensor(void* data, DType dtype, std::initializer_list<std::int64_t> shape) {
    Tensor tensor;
    tensor.data = data;
    tensor.dtype = dtype;
    for (const std::int64_t extent : shape) tensor.shape[static_cast<std::size_t>(tensor.rank++)] = extent;
    return tensor;
}

namespace {

// Null of a tensor that is planned alone.
void* moved_by(void* data, std::int64_t bytes) {
    return data == nullptr ? nullptr : static_cast<char*>(data) + bytes;
}

}  // namespace

std::int64_t Tensor::numel() const {
    if (rank == 0) return 0;
    std::int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= dim(i);
    return count;
}

Tensor Tensor::view(std::initializer_list<std::int64_t> new_shape) const {
    const Tensor viewed = make_tensor(data, dtype, new_shape);
    if (viewed.numel() > numel())
        throw std::logic_error(fmt::format("view {} of smaller {}", viewed.shape_text(), shape_text()));
    return viewed;
}

Tensor Tensor::part(std::int64_t first, std::int64_t count) const {
    if (first < 0 || count < 0 || first + count > numel())
        throw std::logic_error("elements " + std::to_string(first) + " to " + std::to_string(first + count) + " of " +
                               shape_text());
    return make_tensor(moved_by(data, first * size_of(dtype)), dtype, {count});
}

Tensor Tensor::slice(std::int64_t i) const {
    Tensor part = *this;
    part.rank = rank - 1;
    for (int d = 0; d + 1 < rank; ++d) part.shape[static_cast<std::size_t>(d)] = dim(d + 1);
    part.data = moved_by(data, i * part.bytes());
    return part;
}

std::string Tensor::shape_text() const {
    std::string text = "(";
    for (int i = 0; i < rank; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", dim(i));
    return text + ") " + dtype_name(dtype);
}

void Tensor::require_dtype(DType wanted) const {
    if (dtype != wanted) throw std::logic_error(fmt::format("{} used as {}", shape_text(), dtype_name(wanted)));
}

void check_shape(const Tensor& tensor, std::initializer_list<std::int64_t> shape, const char* what) {
    bool same = tensor.rank == static_cast<int>(shape.size());
    int i = 0;
    for (const std::int64_t extent : shape) same = same && tensor.dim(i++) == extent;
    if (!same)
        throw std::logic_error(fmt::format("{}: shape {} where {} is meant", what, tensor.shape_text(),
                                           make_tensor(nullptr, tensor.dtype, shape).shape_text()));
}

}  // namespace deft::engine
