#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

template <>
void class_token_forward(Exec& exec, float* out, const float* token, const float* x, const float* position,
                         std::int64_t B, std::int64_t K, std::int64_t C) {
    const std::int64_t T = K + 1;
    parallel_items(exec.threads, B * T, [&](std::int64_t row, int) {
        const std::int64_t b = row / T, t = row % T;
        const float* from = t == 0 ? token : x + (b * K + t - 1) * C;
        float* to = out + row * C;
        if (position == nullptr) {
            std::copy_n(from, C, to);
            return;
        }
        const float* place = position + t * C;
#pragma omp simd
        for (std::int64_t c = 0; c < C; ++c) to[c] = from[c] + place[c];
    });
}

template <>
void class_token_backward(Exec& exec, float* dtoken, float* dx, float* dposition, const float* dout, std::int64_t B,
                          std::int64_t K, std::int64_t C, Accumulate accumulate) {
    const std::int64_t T = K + 1;
    // Adds the rows of all samples at place t, in their order.
    const auto add_samples = [&](float* sum, std::int64_t t) {
        if (accumulate == Accumulate::no) std::fill_n(sum, C, 0.0f);
        for (std::int64_t b = 0; b < B; ++b) {
            const float* from = dout + (b * T + t) * C;
#pragma omp simd
            for (std::int64_t c = 0; c < C; ++c) sum[c] += from[c];
        }
    };
    parallel_items(exec.threads, T, [&](std::int64_t t, int) {
        if (dposition != nullptr) add_samples(dposition + t * C, t);
        if (t == 0) {
            add_samples(dtoken, t);
            return;
        }
        for (std::int64_t b = 0; b < B; ++b) std::copy_n(dout + (b * T + t) * C, C, dx + (b * K + t - 1) * C);
    });
}

}  // namespace deft::kernels::cpu
