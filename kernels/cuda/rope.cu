#include <cmath>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// A thread turns kWidth neighbouring pairs of every head of a row. Angles are large and their remainders small: in
// double.
template <class Real, int kWidth>
__global__ void turn_pairs(Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, RopeShape s,
                           double sign) {
    const std::int64_t half = s.d / 2, vectors = half / kWidth;  // of a row
    for (std::int64_t item = first_item(); item < s.B * s.K * vectors; item += item_stride()) {
        const std::int64_t row = item / vectors, i = item % vectors * kWidth;
        const std::int64_t position = s.position == nullptr ? row % s.K : s.position[row];
        float cosine[kWidth], sine[kWidth];
        for (int j = 0; j < kWidth; ++j) {
            const double frequency = pow(s.theta, -2.0 * static_cast<double>(i + j) / static_cast<double>(s.d));
            const double angle = static_cast<double>(position) * frequency;
            cosine[j] = static_cast<float>(cos(angle));
            sine[j] = static_cast<float>(sign * sin(angle));
        }
        for (std::int64_t h = 0; h < s.heads; ++h) {
            const Real* from = x + row * x_stride + h * s.d + i;
            Real* to = y + row * y_stride + h * s.d + i;
            float first[kWidth], second[kWidth], turned[kWidth];
            load(first, from);
            load(second, from + half);
            for (int j = 0; j < kWidth; ++j) turned[j] = first[j] * cosine[j] - second[j] * sine[j];
            store(to, turned);
            for (int j = 0; j < kWidth; ++j) turned[j] = second[j] * cosine[j] + first[j] * sine[j];
            store(to + half, turned);
        }
    }
}

}  // namespace

template <class Real>
void rope(Exec& exec, Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, const RopeShape& s,
          RopeTurn turn) {
    const std::int64_t half = s.d / 2;
    const bool wide = rows_are_wide<Real>(half, y, x) && y_stride % kWide<Real> == 0 && x_stride % kWide<Real> == 0;
    with_width<Real>(wide, [&](auto width) {
        launch(exec, over_items("turn_pairs", s.B * s.K * (half / width)), turn_pairs<Real, width>, y, y_stride, x,
               x_stride, s, turn == RopeTurn::forward ? 1.0 : -1.0);
    });
}

template void rope<float>(Exec&, float*, std::int64_t, const float*, std::int64_t, const RopeShape&, RopeTurn);
template void rope<bf16>(Exec&, bf16*, std::int64_t, const bf16*, std::int64_t, const RopeShape&, RopeTurn);

}  // namespace deft::kernels::cuda
