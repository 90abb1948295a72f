#include "reporting/roofline.h"

#include <cmath>

namespace deft::reporting {

namespace {

double least_seconds(const RooflinePoint& point, const Roof& roof) {
    return (roof.bound == Bound::compute ? point.flops : point.bytes) / roof.rate;
}

}  // namespace

const char* to_string(Bound bound) {
    switch (bound) {
        case Bound::compute:
            return "compute";
        case Bound::memory:
            return "memory";
        case Bound::cache:
            break;
    }
    return "cache";
}

std::optional<RooflinePlace> place_of(const RooflinePoint& point) {
    const RooflinePlace place{point.flops / point.bytes, point.flops / point.seconds};
    for (const double value : {place.intensity, place.rate})
        if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
    return place;
}

const Roof& bounding_roof(const Roofline& roofline, const RooflinePoint& point) {
    const Roof &compute = roofline.roofs.at(point.compute), &traffic = roofline.roofs.at(point.traffic);
    return least_seconds(point, compute) > least_seconds(point, traffic) ? compute : traffic;
}

double share_of_roof(const Roofline& roofline, const RooflinePoint& point) {
    return least_seconds(point, bounding_roof(roofline, point)) / point.seconds;
}

}  // namespace deft::reporting
