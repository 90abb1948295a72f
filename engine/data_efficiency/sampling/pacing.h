#pragma once
// Pacing: how a difficulty, or a number of kept tokens, grows with the step.

#include <cstdint>
#include <string>
#include <vector>

namespace deft::engine {

enum class PacingKind {
    root,         // min + (max - min) (t / duration)^(1 / root_degree); degree 1: linear, 2: square root
    step,         // a stair of `stages` equal rises: min + (max - min) floor(stages t / duration) / stages
    exponential,  // min (max / min)^(t / duration)
    discrete,     // the value of the last point at or before t
    points,       // straight lines between the points
};

struct PacingPoint {
    std::int64_t step = 0;
    std::int64_t value = 0;
};

// d(t), with its fraction cut off, rounded down to a multiple and kept within [min, max]; max from t = duration on.
// Sources: arXiv 2212.03597, section 3.1 (fixed_linear, fixed_root, fixed_discrete); step and exponential pacing as in
// Hacohen & Weinshall 2019, section 2.
struct Pacing {
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t multiple = 1;  // values of points are taken as they are
    std::int64_t duration = 0;  // steps until max; 0: max from the start
    double root_degree = 1;
    PacingKind kind = PacingKind::root;
    std::int64_t stages = 1;
    std::vector<PacingPoint> points = {};  // ascending steps, the first at or before 0
};

std::int64_t paced_value(const Pacing& pacing, std::int64_t t);

// Steps ascend strictly; values never fall. Empty: what is wrong with them, for an error message.
std::string problem_of_points(const std::vector<PacingPoint>& points);

}  // namespace deft::engine
