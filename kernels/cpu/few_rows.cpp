#include "kernels/cpu/few_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/activation.h"
#include "kernels/cpu/wide_vectors.h"

namespace deft::kernels::cpu {

namespace {

// How far ahead of its use a weight is asked for: hardware looks no further than its page.
constexpr std::int64_t kAhead = 1024;

// So many values at once, wherever they lie: a type of its own, since the compiler would keep sums of several rows in
// memory. The order of additions is sum_of's.
constexpr std::int64_t kLanes = kPartialSums / 2;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float))));

// sum[r out] = w . x[r], w (in), x (R, in).
template <int R>
[[gnu::always_inline]] inline void products_of_rows(float* sum, std::int64_t out, const float* w, const float* x,
                                                    std::int64_t in) {
    Lanes low[R] = {}, high[R] = {};
    std::int64_t i = 0;
    for (; i + kPartialSums <= in; i += kPartialSums) {
        __builtin_prefetch(w + i + kAhead);
        __builtin_prefetch(w + i + kAhead + kLanes);
        const Lanes* weight = reinterpret_cast<const Lanes*>(w + i);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const Lanes* value = reinterpret_cast<const Lanes*>(x + r * in + i);
            low[r] += weight[0] * value[0];
            high[r] += weight[1] * value[1];
        }
    }
    const std::int64_t rest = in - i;
    for (int r = 0; r < R; ++r) {
        float part[kPartialSums];
        std::memcpy(part, &low[r], sizeof(Lanes));
        std::memcpy(part + kLanes, &high[r], sizeof(Lanes));
        for (std::int64_t j = 0; j < rest; ++j) part[j] += w[i + j] * x[r * in + i + j];
#pragma GCC unroll 5
        for (std::int64_t half = kLanes; half > 0; half /= 2)
#pragma omp simd
            for (std::int64_t j = 0; j < half; ++j) part[j] += part[j + half];
        sum[r * out] = part[0];
    }
}

// Products of all rows.
void products(float* sum, std::int64_t out, const float* w, const float* x, std::int64_t rows, std::int64_t in) {
    std::int64_t row = 0;
    for (; row + 4 <= rows; row += 4) products_of_rows<4>(sum + row * out, out, w, x + row * in, in);
    for (; row < rows; ++row) products_of_rows<1>(sum + row * out, out, w, x + row * in, in);
}

}  // namespace

void linear_of_few_rows(const FewRows& layer, std::int64_t item) {
    const auto& [y, pre, x, w, bias, rows, in, out, act] = layer;
    float* z = pre == nullptr ? y : pre;  // (rows, out)
    const std::int64_t first = item * kFewRowsOutputs, outputs = std::min(kFewRowsOutputs, out - first);
    widest_vectors([&, y = y, x = x, w = w, bias = bias, rows = rows, in = in, out = out, act = act] {
        for (std::int64_t o = first; o < first + outputs; ++o) products(z + o, out, w + o * in, x, rows, in);
        for (std::int64_t row = 0; row < rows; ++row) {
            float *z_row = z + row * out + first, *y_row = y + row * out + first;
            for (std::int64_t i = 0; bias != nullptr && i < outputs; ++i) z_row[i] += bias[first + i];
            if (act != Activation::none)
                activate_row(y_row, z_row, outputs, act);
            else if (y != z)
                std::copy_n(z_row, outputs, y_row);
        }
    });
}

void linear_of_few_rows(Exec& exec, const FewRows& layer) {
    parallel_items(exec.threads, layer.items(), [&](std::int64_t item, int) { linear_of_few_rows(layer, item); });
}

}  // namespace deft::kernels::cpu
