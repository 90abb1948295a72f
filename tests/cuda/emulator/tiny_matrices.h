#pragma once
// Kernels of one warp that use the instructions of tensor cores once.

#include <cstdint>

#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensor_tiles.h"

namespace deft::kernels::cuda::tiny {

// c (16, 8) += a (16, 16) b; b (8, 16) by rows of n, or, transposed, (16, 8) by rows of k.
__global__ inline void multiply_fragments(float* c, const bf16* a, const bf16* b, bool transposed) {
    DEFT_SHARED(bf16, of_a, 16 * 16);
    DEFT_SHARED(bf16, of_b, 2 * 8 * 16);  // read as 16 x 16, of which the second half is not used
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = lane; i < 16 * 16; i += 32) of_a[i] = a[i];
    for (int i = lane; i < 2 * 8 * 16; i += 32) of_b[i] = i < 8 * 16 ? b[i] : bf16{0};
    __syncwarp();
    unsigned fragments_of_a[4], fragments_of_b[4];
    ldmatrix_x4(fragments_of_a, shared_address(of_a) + (lane % 16 * 16 + lane / 16 * 8));
    if (transposed)
        ldmatrix_x4_transposed(fragments_of_b, shared_address(of_b) + lane * 8);
    else
        ldmatrix_x4(fragments_of_b, shared_address(of_b) + (lane % 8 * 16 + lane / 8 % 2 * 8));
    float sums[4];
    const auto place = [&](int i) { return (lane / 4 + i / 2 * 8) * 8 + 2 * (lane % 4) + i % 2; };
    for (int i = 0; i < 4; ++i) sums[i] = c[place(i)];
    mma_m16n8k16(sums, fragments_of_a, fragments_of_b[0], fragments_of_b[1]);
    for (int i = 0; i < 4; ++i) c[place(i)] = sums[i];
}

inline void multiply_once(float* c, const bf16* a, const bf16* b, bool transposed) {
    Exec exec;
    launch(exec, {"multiply_fragments", 1, 32}, multiply_fragments, c, a, b, transposed);
}

// Reads all fragments of a tile of 16 rows; without the swizzle a piece is where its number says.
template <int kWidth>
__global__ void read_tile(unsigned* sums, bool swizzled) {
    DEFT_SHARED(bf16, tile, 16 * kWidth);
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = lane; i < 16 * kWidth; i += 32) tile[i] = bf16{1};
    __syncwarp();
    const FragmentPlaces<kWidth> at;
    const int plain = lane % 16 * kWidth + lane / 16 * kPiece;
    unsigned sum = 0;
    for (int k = 0; k < kWidth / 16; ++k) {
        unsigned fragments[4];
        ldmatrix_x4(fragments, shared_address(tile) + (swizzled ? at.rows ^ 16 * k : plain + 16 * k));
        sum += fragments[0];
    }
    sums[lane] = sum;
}

inline std::int64_t bank_conflicts_of_tile(int width, bool swizzled) {
    Exec exec;
    unsigned sums[32];
    emulator::forget_kernels();
    const Launch shape{"read_tile", 1, 32};
    if (width == 32)
        launch(exec, shape, read_tile<32>, sums, swizzled);
    else if (width == 64)
        launch(exec, shape, read_tile<64>, sums, swizzled);
    else
        launch(exec, shape, read_tile<128>, sums, swizzled);
    return emulator::kernels_run().at("read_tile").bank_conflicts;
}

}  // namespace deft::kernels::cuda::tiny
