#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kPoolCols = 256;  // of one sample: a work item

// y (cols) = the mean of rows with a stride of C.
void mean_of_rows(float* y, const float* x, std::int64_t K, std::int64_t C, std::int64_t cols) {
    float sum[kPoolCols] = {};
    for (std::int64_t k = 0; k < K; ++k)
#pragma omp simd
        for (std::int64_t i = 0; i < cols; ++i) sum[i] += x[k * C + i];
#pragma omp simd
    for (std::int64_t i = 0; i < cols; ++i) y[i] = sum[i] / static_cast<float>(K);
}

}  // namespace

template <>
void pool_forward(Exec& exec, float* y, const float* x, std::int64_t B, std::int64_t K, std::int64_t C,
                  Pooling pooling) {
    const std::int64_t blocks = ceil_div(C, kPoolCols);
    parallel_items(exec.threads, B * blocks, [&](std::int64_t item, int) {
        const std::int64_t b = item / blocks, first = item % blocks * kPoolCols, cols = std::min(kPoolCols, C - first);
        const float* from = x + b * K * C + first;
        if (pooling == Pooling::first)
            std::copy_n(from, cols, y + b * C + first);
        else
            widest_vectors([&] { mean_of_rows(y + b * C + first, from, K, C, cols); });
    });
}

template <>
void pool_backward(Exec& exec, float* dx, const float* dy, std::int64_t B, std::int64_t K, std::int64_t C,
                   Pooling pooling, Accumulate accumulate) {
    const bool adds = accumulate == Accumulate::yes;
    parallel_items(exec.threads, B * K, [&](std::int64_t row, int) {
        const float* from = dy + row / K * C;
        float* to = dx + row * C;
        const bool has_none = pooling == Pooling::first && row % K != 0;
        if (has_none) {
            if (!adds) std::fill_n(to, C, 0.0f);
            return;
        }
        const float count = pooling == Pooling::first ? 1.0f : static_cast<float>(K);
#pragma omp simd
        for (std::int64_t i = 0; i < C; ++i) to[i] = adds ? to[i] + from[i] / count : from[i] / count;
    });
}

namespace {

template <class Pixel>
void make_patches(Exec& exec, float* out, const Pixel* images, const PatchShape& s) {
    const std::int64_t across = s.W / s.P, down = s.H / s.P, line = s.P * s.channels;  // line: of a patch
    const auto scale = static_cast<float>(s.scale), shift = static_cast<float>(s.shift);
    parallel_items(exec.threads, s.B * down * across, [&](std::int64_t patch, int) {
        const std::int64_t b = patch / (down * across), row = patch / across % down * s.P, col = patch % across * s.P;
        for (std::int64_t r = 0; r < s.P; ++r) {
            const Pixel* from = images + ((b * s.H + row + r) * s.W + col) * s.channels;
            float* to = out + patch * s.patch_values() + r * line;
#pragma omp simd
            for (std::int64_t i = 0; i < line; ++i) to[i] = static_cast<float>(from[i]) * scale + shift;
        }
    });
}

}  // namespace

template <>
void patchify(Exec& exec, float* out, const float* images, const PatchShape& s) {
    make_patches(exec, out, images, s);
}

template <>
void patchify(Exec& exec, float* out, const std::uint8_t* images, const PatchShape& s) {
    make_patches(exec, out, images, s);
}

}  // namespace deft::kernels::cpu
