#pragma once
// Operations of a warp's lanes together on a tensor core's matrices (PTX ISA 8.0, "Matrix fragments for mma.m16n8k16"
// and "ldmatrix"), and mistakes in asynchronous copies that tests plant.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>

namespace deft::kernels::cuda::emulator {

void require_shared_aligned(const void* place, std::size_t bytes);
void require_copy_aligned(const void* to, const void* from, bool inside);
[[noreturn]] void too_many_copies(std::size_t count);

// The row of a matrix that a lane names, and the registers that receive the lane's pairs.
struct MatrixRow {
    const std::byte* place;
    std::uint16_t value[8];
    unsigned* to;

    MatrixRow(const std::byte* row, unsigned (&registers)[4]) : place(row), to(registers) {
        require_shared_aligned(row, 16);
        std::memcpy(value, row, sizeof value);
    }
};
enum class Transposed : bool { no, yes };
// Also counts bank conflicts: rows of one matrix that begin in the same 16 bytes of 128.
void distribute_rows(MatrixRow& mine, Transposed, const std::source_location&);

struct MatrixProduct {
    float* c;
    unsigned a[4], b[2];
};
// Products of a lane's element are summed in double and rounded once; a device rounds more often.
void multiply_matrices(MatrixProduct& mine, const std::source_location&);

// To nearest, ties to even; NaN stays NaN.
inline unsigned round_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40u;
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

// A mistake that every asynchronous copy makes from here on: tests prove with it that they would see it.
enum class CopyMistake : std::uint8_t { none, no_wait, no_commit, one_group_too_few };
void plant(CopyMistake);
CopyMistake planted_mistake();

}  // namespace deft::kernels::cuda::emulator
