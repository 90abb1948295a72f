#include "reporting/decimate.h"

#include <algorithm>

namespace deft::reporting {

namespace {

CurvePoint widened(CurvePoint point, double low, double high) {
    point.low = low;
    point.high = high;
    return point;
}

void keep_extremes(const CurvePoint* begin, const CurvePoint* end, std::vector<CurvePoint>& kept) {
    const auto by_y = [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; };
    const auto [least, most] = std::minmax_element(begin, end, by_y);
    double low = begin->low, high = begin->high;
    for (const CurvePoint* point = begin; point != end; ++point) {
        low = std::min(low, point->low);
        high = std::max(high, point->high);
    }
    kept.push_back(widened(*std::min(least, most), low, high));
    if (least != most) kept.push_back(widened(*std::max(least, most), low, high));
}

}  // namespace

std::vector<CurvePoint> decimate(const std::vector<CurvePoint>& points, std::size_t most) {
    if (points.size() <= most || most < 4) return points;
    const std::size_t inner = points.size() - 2, runs = (most - 2) / 2;
    std::vector<CurvePoint> kept = {points.front()};
    for (std::size_t run = 0; run < runs; ++run)
        keep_extremes(points.data() + 1 + inner * run / runs, points.data() + 1 + inner * (run + 1) / runs, kept);
    kept.push_back(points.back());
    return kept;
}

}  // namespace deft::reporting
