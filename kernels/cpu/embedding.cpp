#include "kernels/cpu/cpu.h"

#include <string>

#include "base/error.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

void embedding_forward(Exec& exec, float* out, const std::int32_t* token, const float* wte, const float* wpe,
                       std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t V) {
    for (std::int64_t i = 0; i < B * T; ++i)
        if (token[i] < 0 || token[i] >= V)
            throw Error(ErrorKind::config, "token " + std::to_string(token[i]) + " at position " + std::to_string(i) +
                                               " lies outside the vocabulary of " + std::to_string(V));
    constexpr std::int64_t kRowBlock = 16;
    parallel_items(exec.threads, ceil_div(B * T, kRowBlock), [&](std::int64_t block, int) {
        for (std::int64_t row = block * kRowBlock; row < std::min(B * T, (block + 1) * kRowBlock); ++row) {
            const float *token_row = wte + token[row] * C, *position_row = wpe + row % T * C;
            float* out_row = out + row * C;
#pragma omp simd
            for (std::int64_t i = 0; i < C; ++i) out_row[i] = token_row[i] + position_row[i];
        }
    });
}

void embedding_backward(Exec& exec, float* dwte, float* dwpe, const float* dout, const std::int32_t* token,
                        std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t max_T, Accumulate accumulate) {
    // Rows of dwte repeat in any pattern, so an item owns columns, and adds rows in their order.
    constexpr std::int64_t kCols = 64;
    parallel_items(exec.threads, ceil_div(C, kCols), [&](std::int64_t block, int) {
        const std::int64_t first = block * kCols, cols = std::min(kCols, C - first);
        if (accumulate == Accumulate::no)
            for (std::int64_t t = 0; t < max_T; ++t) std::fill_n(dwpe + t * C + first, cols, 0.0f);
        for (std::int64_t row = 0; row < B * T; ++row) {
            const float* gradient = dout + row * C + first;
            float *token_row = dwte + token[row] * C + first, *position_row = dwpe + row % T * C + first;
#pragma omp simd
            for (std::int64_t i = 0; i < cols; ++i) {
                token_row[i] += gradient[i];
                position_row[i] += gradient[i];
            }
        }
    });
}

}  // namespace deft::kernels::cpu
