#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kValueCols = 256;  // of the gradients: a work item

// Sums of every eighth product, then of those: in an order that the length alone decides.
float dot_product(const float* a, const float* b, std::int64_t n) {
    constexpr std::int64_t kLanes = 8;
    float sum[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) sum[lane] += a[i + lane] * b[i + lane];
    for (std::int64_t lane = 0; i < n; ++i, ++lane) sum[lane] += a[i] * b[i];
    float total = 0;
    for (const float of_lane : sum) total += of_lane;
    return total;
}

}  // namespace

template <>
void value_loss(Exec& exec, float* loss, float* value, const float* x, const float* w, const float* bias,
                const float* target, std::int64_t B, std::int64_t C) {
    parallel_items(exec.threads, B, [&](std::int64_t b, int) {
        value[b] = dot_product(x + b * C, w, C) + bias[0];
        const float error = value[b] - target[b];
        loss[b] = error * error;
    });
}

template <>
void value_loss_train(Exec& exec, float* loss, float* value, float* dx, float* dw, float* dbias, const float* x,
                      const float* w, const float* bias, const float* target, std::int64_t B, std::int64_t C,
                      StepValue<double> scale, Accumulate accumulate) {
    value_loss(exec, loss, value, x, w, bias, target, B, C);
    const bool adds = accumulate == Accumulate::yes;
    const auto twice = static_cast<float>(2 * scale.get());
    const auto slope = [&](std::int64_t b) { return twice * (value[b] - target[b]); };
    parallel_items(exec.threads, ceil_div(C, kValueCols), [&](std::int64_t block, int) {
        const std::int64_t first = block * kValueCols, end = std::min(C, first + kValueCols);
        if (!adds) std::fill(dw + first, dw + end, 0.0f);
        for (std::int64_t b = 0; b < B; ++b) {
            const float d = slope(b);
            const float* from = x + b * C;
            float* to = dx + b * C;
#pragma omp simd
            for (std::int64_t c = first; c < end; ++c) {
                to[c] = d * w[c];
                dw[c] += d * from[c];
            }
        }
    });
    float sum = adds ? dbias[0] : 0;
    for (std::int64_t b = 0; b < B; ++b) sum += slope(b);
    dbias[0] = sum;
}

}  // namespace deft::kernels::cpu
