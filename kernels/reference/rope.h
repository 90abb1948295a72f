#pragma once
// Rotary position embedding (Su et al. 2021, section 3.4.2).

#include <cmath>

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

template <class Real>
void rope(Exec&, Real* y, std::int64_t y_stride, const Real* x, std::int64_t x_stride, const RopeShape& s,
          RopeTurn turn) {
    for (std::int64_t r = 0; r < s.B * s.K; ++r)
        for (std::int64_t h = 0; h < s.heads; ++h)
            for (std::int64_t i = 0; i < s.d / 2; ++i) {
                const std::int64_t position = s.position == nullptr ? r % s.K : s.position[r];
                const double frequency = std::pow(s.theta, -2.0 * static_cast<double>(i) / static_cast<double>(s.d));
                const double angle = static_cast<double>(position) * frequency;
                const Real cosine = Real(std::cos(angle)),
                           sine = Real(turn == RopeTurn::forward ? std::sin(angle) : -std::sin(angle));
                const std::int64_t at = h * s.d + i;
                const Real first = x[r * x_stride + at], second = x[r * x_stride + at + s.d / 2];
                y[r * y_stride + at] = first * cosine - second * sine;
                y[r * y_stride + at + s.d / 2] = second * cosine + first * sine;
            }
}

}  // namespace deft::kernels::reference
