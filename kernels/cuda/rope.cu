#include <cmath>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// A thread turns one pair of every head of a row. Angles are large and their remainders small: in double.
template <class Real>
__global__ void turn_pairs(Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, RopeShape s,
                           double sign) {
    const std::int64_t half = s.d / 2;
    for (std::int64_t item = first_item(); item < s.B * s.K * half; item += item_stride()) {
        const std::int64_t row = item / half, i = item % half;
        const std::int64_t position = s.position == nullptr ? row % s.K : s.position[row];
        const double frequency = pow(s.theta, -2.0 * static_cast<double>(i) / static_cast<double>(s.d));
        const double angle = static_cast<double>(position) * frequency;
        const auto cosine = static_cast<float>(cos(angle)), sine = static_cast<float>(sign * sin(angle));
        for (std::int64_t h = 0; h < s.heads; ++h) {
            const Real* from = x + row * x_stride + h * s.d + i;
            Real* to = y + row * y_stride + h * s.d + i;
            const float first = to_float(from[0]), second = to_float(from[half]);
            to[0] = from_float<Real>(first * cosine - second * sine);
            to[half] = from_float<Real>(second * cosine + first * sine);
        }
    }
}

}  // namespace

template <class Real>
void rope(Exec& exec, Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, const RopeShape& s,
          RopeTurn turn) {
    launch(exec, over_items("turn_pairs", s.B * s.K * (s.d / 2)), turn_pairs<Real>, y, y_stride, x, x_stride, s,
           turn == RopeTurn::forward ? 1.0 : -1.0);
}

template void rope<float>(Exec&, float*, std::int64_t, const float*, std::int64_t, const RopeShape&, RopeTurn);
template void rope<bf16>(Exec&, bf16*, std::int64_t, const bf16*, std::int64_t, const RopeShape&, RopeTurn);

}  // namespace deft::kernels::cuda
