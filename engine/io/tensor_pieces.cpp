#include "engine/io/tensor_pieces.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels/f16.h"

namespace deft::engine {

namespace {

// A file's elements need not be aligned.
template <class T>
float element(const std::byte* bytes, std::int64_t i) {
    T value;
    std::memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return kernels::to_float(value);
}

template <class To>
To rounded(float value) {
    const To to = kernels::from_float<To>(value);
    if constexpr (std::is_same_v<To, kernels::f16>)
        if (std::isfinite(value) && !std::isfinite(kernels::to_float(to)))
            throw std::range_error("a value beyond 65504, the largest of f16");
    return to;
}

// to[c * to_stride + r] = from[r * from_stride + c] for r < rows, c < columns. In tiles, since one of the two is walked
// against its rows.
template <class From, class To>
void transpose(const std::byte* from, std::int64_t from_stride, To* to, std::int64_t to_stride, std::int64_t rows,
               std::int64_t columns) {
    constexpr std::int64_t kTile = 32;
    for (std::int64_t r0 = 0; r0 < rows; r0 += kTile)
        for (std::int64_t c0 = 0; c0 < columns; c0 += kTile)
            for (std::int64_t c = c0; c < std::min(columns, c0 + kTile); ++c)
                for (std::int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
                    to[c * to_stride + r] = rounded<To>(element<From>(from, r * from_stride + c));
}

// Calls f(first, count) for whole units of `unit_bytes` that make up `units`, as many at a time as fit into a piece.
template <class F>
void for_each_piece(std::int64_t units, std::int64_t unit_bytes, F&& f) {
    const std::int64_t most = std::max<std::int64_t>(1, kPieceBytes / std::max<std::int64_t>(1, unit_bytes));
    for (std::int64_t first = 0; first < units; first += most) f(first, std::min(most, units - first));
}

template <class To>
void write_as(Exec& exec, const Tensor& tensor, bool transposed, SafetensorsOutput& to) {
    std::vector<std::byte> staging;
    std::vector<To> piece;
    if (!transposed) {
        for_each_piece(tensor.numel(), sizeof(float), [&](std::int64_t first, std::int64_t count) {
            const void* values = host_bytes(exec, tensor.part(first, count), staging);
            if constexpr (sizeof(To) < sizeof(float)) {
                piece.resize(static_cast<std::size_t>(count));
                std::transform(static_cast<const float*>(values), static_cast<const float*>(values) + count,
                               piece.begin(), rounded<To>);
                values = piece.data();
            }
            to.write(values, count * static_cast<std::int64_t>(sizeof(To)));
        });
        return;
    }
    const std::int64_t rows = tensor.dim(0), columns = tensor.dim(1);
    const auto* values = static_cast<const float*>(host_bytes(exec, tensor, staging));
    for_each_piece(columns, rows * size_of(tensor.dtype), [&](std::int64_t first, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count * rows));
        transpose<float>(reinterpret_cast<const std::byte*>(values + first), columns, piece.data(), rows, rows, count);
        to.write(piece.data(), count * rows * static_cast<std::int64_t>(sizeof(To)));
    });
}

template <class From>
void read_as(Exec& exec, const StoredTensor& stored, const MappedFile& file) {
    const auto* from = static_cast<const std::byte*>(stored.from.data);
    const auto bytes_of = [&](std::int64_t first, std::int64_t count) {
        return std::span(from + first * static_cast<std::int64_t>(sizeof(From)),
                         static_cast<std::size_t>(count) * sizeof(From));
    };
    std::vector<float> piece;
    if (!stored.transposed) {
        for_each_piece(stored.to.numel(), sizeof(float), [&](std::int64_t first, std::int64_t count) {
            const std::span bytes = bytes_of(first, count);
            file.require_whole();
            const void* values = bytes.data();
            if constexpr (sizeof(From) < sizeof(float)) {
                piece.resize(static_cast<std::size_t>(count));
                for (std::int64_t i = 0; i < count; ++i)
                    piece[static_cast<std::size_t>(i)] = element<From>(bytes.data(), i);
                values = piece.data();
            }
            write_tensor(exec, stored.to.part(first, count), values);
            file.release(bytes);
        });
        return;
    }
    const std::int64_t rows = stored.from.dim(0),
                       columns = stored.from.dim(1);  // (rows, columns) is to's (columns, rows)
    for_each_piece(columns, rows * size_of(stored.to.dtype), [&](std::int64_t column, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count * rows));
        for_each_piece(rows, columns * size_of(stored.from.dtype), [&](std::int64_t row, std::int64_t rows_here) {
            const std::span bytes = bytes_of(row * columns, rows_here * columns);
            file.require_whole();
            transpose<From>(bytes.data() + column * static_cast<std::int64_t>(sizeof(From)), columns,
                            piece.data() + row, rows, rows_here, count);
            file.release(bytes);
        });
        write_tensor(exec, stored.to.part(column * rows, count * rows), piece.data());
    });
}

void write_as_it_is(Exec& exec, const Tensor& tensor, SafetensorsOutput& to) {
    std::vector<std::byte> staging;
    for_each_piece(tensor.numel(), size_of(tensor.dtype), [&](std::int64_t first, std::int64_t count) {
        const Tensor piece = tensor.part(first, count);
        to.write(host_bytes(exec, piece, staging), piece.bytes());
    });
}

void read_as_it_is(Exec& exec, const StoredTensor& stored, const MappedFile& file) {
    if (stored.from.dtype != stored.to.dtype || stored.transposed)
        throw std::logic_error(stored.from.shape_text() + " of a file is read as " + stored.to.shape_text());
    const auto* from = static_cast<const std::byte*>(stored.from.data);
    for_each_piece(stored.to.numel(), size_of(stored.to.dtype), [&](std::int64_t first, std::int64_t count) {
        const Tensor piece = stored.to.part(first, count);
        const std::span bytes(from + first * size_of(piece.dtype), static_cast<std::size_t>(piece.bytes()));
        file.require_whole();
        write_tensor(exec, piece, bytes.data());
        file.release(bytes);
    });
}

}  // namespace

void write_in_pieces(Exec& exec, const Tensor& tensor, Layout layout, SafetensorsOutput& to) {
    if (tensor.dtype == DType::bf16) return write_as_it_is(exec, tensor, to);
    tensor.as<float>();
    if (layout.dtype == DType::bf16)
        write_as<kernels::bf16>(exec, tensor, layout.transposed, to);
    else if (layout.dtype == DType::f16)
        write_as<kernels::f16>(exec, tensor, layout.transposed, to);
    else
        write_as<float>(exec, tensor, layout.transposed, to);
}

void read_in_pieces(Exec& exec, const StoredTensor& stored, const MappedFile& file) {
    if (stored.to.dtype == DType::bf16) return read_as_it_is(exec, stored, file);
    stored.to.as<float>();
    if (stored.from.dtype == DType::bf16)
        read_as<kernels::bf16>(exec, stored, file);
    else if (stored.from.dtype == DType::f16)
        read_as<kernels::f16>(exec, stored, file);
    else
        read_as<float>(exec, stored, file);
}

template <class From>
bool all_finite_as(const Tensor& from, const MappedFile& file) {
    bool finite = true;
    const auto* bytes = static_cast<const std::byte*>(from.data);
    for_each_piece(from.numel(), sizeof(From), [&](std::int64_t first, std::int64_t count) {
        const std::span piece(bytes + first * static_cast<std::int64_t>(sizeof(From)),
                              static_cast<std::size_t>(count) * sizeof(From));
        file.require_whole();
        for (std::int64_t i = 0; i < count; ++i) finite = finite && std::isfinite(element<From>(piece.data(), i));
        file.release(piece);
    });
    return finite;
}

bool all_finite(const Tensor& from, const MappedFile& file) {
    if (from.dtype == DType::bf16) return all_finite_as<kernels::bf16>(from, file);
    if (from.dtype == DType::f16) return all_finite_as<kernels::f16>(from, file);
    return all_finite_as<float>(from, file);
}

}  // namespace deft::engine
