#pragma once
// Warp-wide instructions of tensor cores and asynchronous copies for nvcc (PTX ISA 8.0: mma.sync.m16n8k16, ldmatrix,
// cp.async; sm_80 and newer). Included by device_words.h alone; the emulator has a file of the same name.

#include <cstdint>

namespace deft::kernels::cuda {

// A place in shared memory: 32 bits, so that no loop computes 64-bit addresses. Offsets count values of two bytes.
struct SharedAddress {
    unsigned bytes;
    __device__ __forceinline__ SharedAddress operator+(int values) const {
        return {bytes + 2 * static_cast<unsigned>(values)};
    }
};
__device__ __forceinline__ SharedAddress shared_address(const void* place) {
    return {static_cast<unsigned>(__cvta_generic_to_shared(place))};
}

// Four 8 x 8 matrices of bf16. Lane l names row l % 8 of matrix l / 8, 16 bytes that are aligned. Register i receives
// the lane's pair of matrix i: row l / 4, columns 2 (l % 4) and the next; transposed: the pair of the transpose.
__device__ __forceinline__ void ldmatrix_x4(unsigned (&to)[4], SharedAddress row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row.bytes));
}
__device__ __forceinline__ void ldmatrix_x4_transposed(unsigned (&to)[4], SharedAddress row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row.bytes));
}

// c (16, 8) += a (16, 16) b (16, 8), bf16 with sums in float. Lane l holds of c the rows l / 4 and l / 4 + 8, columns
// 2 (l % 4) and the next; a and b as ldmatrix_x4 gives them.
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Copies of this thread from global to shared memory, in groups.
class AsyncCopies {
 public:
    // 16 bytes, both ends aligned; zeros where `inside` is false, and then `from` is not read.
    __device__ __forceinline__ void copy_16_bytes(SharedAddress to, const void* from, bool inside) {
        const int bytes = inside ? 16 : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to.bytes), "l"(from), "r"(bytes));
    }
    // Ends a group.
    __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
    // Returns when all groups but the last kPending have arrived. Other threads see them after a barrier.
    template <int kPending>
    __device__ __forceinline__ void wait() {
        asm volatile("cp.async.wait_group %0;" ::"n"(kPending));
    }
};

// Two floats from shared memory, 8 bytes that are aligned.
__device__ __forceinline__ void load_pair(float& first, float& second, SharedAddress at) {
    asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(first), "=f"(second) : "r"(at.bytes));
}

// Two values rounded to bf16 in one register, the first in its lower half.
__device__ __forceinline__ unsigned pack_bf16(float first, float second) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

// 2^x with a relative error of 2^-22; results below 2^-126 are 0.
__device__ __forceinline__ float exp2_approximate(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// blockIdx.x, read again: what is computed from it after a loop takes no register during the loop.
__device__ __forceinline__ unsigned reread_block_index() {
    unsigned index;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
}

}  // namespace deft::kernels::cuda
