#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"

namespace deft::kernels::cpu {

namespace {

constexpr std::int64_t kPairs = 64;  // whose angles are known at a time

struct Angles {
    float cosine[kPairs], sine[kPairs];

    // Angles are large and their remainders small: in double.
    void turn(const double* frequency, std::int64_t pairs, std::int64_t position, double sign) {
        for (std::int64_t i = 0; i < pairs; ++i) {
            const double angle = static_cast<double>(position) * frequency[i];
            cosine[i] = static_cast<float>(std::cos(angle));
            sine[i] = static_cast<float>(sign * std::sin(angle));
        }
    }
};

// Pairs of one head: their first halves (pairs) and, d/2 further, their second ones; y may be x.
void turn_head(float* y, const float* x, const Angles& angles, std::int64_t pairs, std::int64_t half) {
#pragma omp simd
    for (std::int64_t i = 0; i < pairs; ++i) {
        const float first = x[i], second = x[half + i];
        y[i] = first * angles.cosine[i] - second * angles.sine[i];
        y[half + i] = second * angles.cosine[i] + first * angles.sine[i];
    }
}

}  // namespace

template <>
void rope(Exec& exec, float* y, std::int64_t y_stride, const float* x, std::int64_t x_stride, const RopeShape& s,
          RopeTurn turn) {
    const std::int64_t half = s.d / 2;
    for (std::int64_t first = 0; first < half; first += kPairs) {
        const std::int64_t pairs = std::min(kPairs, half - first);
        double frequency[kPairs];
        for (std::int64_t i = 0; i < pairs; ++i)
            frequency[i] = std::pow(s.theta, -2.0 * static_cast<double>(first + i) / static_cast<double>(s.d));
        // Without positions of their own the samples share the angles of row k.
        parallel_items(exec.threads, s.K, [&](std::int64_t k, int) {
            Angles angles;
            const double sign = turn == RopeTurn::forward ? 1 : -1;
            if (s.position == nullptr) angles.turn(frequency, pairs, k, sign);
            for (std::int64_t b = 0; b < s.B; ++b) {
                const std::int64_t row = b * s.K + k;
                if (s.position != nullptr) angles.turn(frequency, pairs, s.position[row], sign);
                widest_vectors([&] {
                    for (std::int64_t h = 0; h < s.heads; ++h) {
                        const std::int64_t at = h * s.d + first;
                        turn_head(y + row * y_stride + at, x + row * x_stride + at, angles, pairs, half);
                    }
                });
            }
        });
    }
}

}  // namespace deft::kernels::cpu
