#pragma once
// A model's tensors to and from safetensors files in pieces, so that saving and loading need little memory of their
// own: a few pieces of kPieceBytes, and on a GPU a copy of one tensor where rows and columns are exchanged.

#include <cstdint>

#include "engine/core/exec.h"
#include "engine/io/safetensors.h"

namespace deft::engine {

inline constexpr std::int64_t kPieceBytes = std::int64_t{16} << 20;

// The layout in a file of a backend's tensor, f32. A bf16 tensor, as a moment may be, is stored as it is.
struct Layout {
    DType dtype = DType::f32;  // or bf16 or f16: rounded to nearest, ties to even, and read back exactly
    bool transposed = false;   // (rows, columns) there is (columns, rows) here; of a tensor of two dimensions
};

// The tensor's bytes in that layout, as the next ones of `to`. Errors: io; device; std::range_error, for a finite value
// that f16 has not.
void write_in_pieces(Exec& exec, const Tensor& tensor, Layout layout, SafetensorsOutput& to);

// One tensor of a backend and the same of a mapped file: equal in elements, and `from` f32, bf16 or f16; where `to` is
// bf16, both are.
struct StoredTensor {
    Tensor to, from;
    bool transposed = false;
};

// to = from. The file's pages are let go piece by piece. Errors: io, for a file that is cut short meanwhile, whose rest
// is not copied; device.
void read_in_pieces(Exec& exec, const StoredTensor& stored, const MappedFile& file);

// Whether no element of a file's tensor, f32, bf16 or f16, is infinite or NaN. Errors: io, likewise.
bool all_finite(const Tensor& from, const MappedFile& file);

}  // namespace deft::engine
