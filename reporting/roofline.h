#pragma once
// A roofline as a value: kernels by arithmetic intensity and rate, and the rates that bound them (Williams, Waterman
// and Patterson 2009).

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace deft::reporting {

enum class Bound { compute, memory, cache };
inline constexpr Bound kBounds[] = {Bound::compute, Bound::memory, Bound::cache};
const char* to_string(Bound bound);

// A highest rate of a device, measured.
struct Roof {
    std::string name;  // "AVX2 FMA", "memory", "L2"
    Bound bound = Bound::compute;
    double rate = 0;  // FLOP/s of compute, bytes/s of memory and caches; positive
};

// One kernel in one state.
struct RooflinePoint {
    std::string name;                      // "linear_forward/2048/256/768"
    double flops = 0, bytes = 0;           // of one run
    double seconds = 0;                    // the same
    std::size_t compute = 0, traffic = 0;  // the roofs above it, for its FLOPs and for its bytes
};

struct Roofline {
    std::string title;  // "cpu, hot"
    std::vector<Roof> roofs;
    std::vector<RooflinePoint> points;
};

// FLOPs per byte and FLOPs per second. Nothing for a kernel without FLOPs or without bytes, which no logarithmic axis
// holds.
struct RooflinePlace {
    double intensity = 0, rate = 0;
};
std::optional<RooflinePlace> place_of(const RooflinePoint& point);

// The roof under which the kernel takes longest: the lower of its two at its intensity.
const Roof& bounding_roof(const Roofline& roofline, const RooflinePoint& point);

// The least seconds under that roof over the measured ones: 1 on the roof.
double share_of_roof(const Roofline& roofline, const RooflinePoint& point);

}  // namespace deft::reporting
