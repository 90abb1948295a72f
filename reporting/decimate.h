#pragma once
// Fewer points of a curve without losing what stands out.

#include <cstddef>
#include <vector>

#include "reporting/figure.h"

namespace deft::reporting {

// At most `most` points (at least 4): the first, the last, and of each run of neighbours the lowest and the highest, as
// they were. The band of a kept point covers its run. Nothing is averaged.
std::vector<CurvePoint> decimate(const std::vector<CurvePoint>& points, std::size_t most);

}  // namespace deft::reporting
