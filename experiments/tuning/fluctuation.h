#pragma once
// Whether a validation loss fluctuates: the sign by which a curriculum or a token dropping is tuned (arXiv 2212.03597,
// section 3: the smallest start and the longest duration without it).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace deft::experiments {

struct FluctuationRule {
    double threshold = 0.01;  // share of the running minimum that the loss may lie above it
    int warmups = 3;          // how long to look, in warm-ups of the learning rate
    int evaluations = 10;     // a warm-up
};

struct LossPoint {
    double warmups = 0;  // training so far
    std::int64_t step = 0;
    double loss = 0;
};

struct Fluctuation {
    std::size_t point = 0;  // of the curve
    double minimum = 0;     // the smallest loss before it
    double excess = 0;      // loss / minimum - 1; infinite where the loss is no number
};

// The first point of the curve, at most rule.warmups in, that lies more than rule.threshold above the smallest loss
// before it, or is not finite.
std::optional<Fluctuation> find_fluctuation(std::span<const LossPoint> curve, const FluctuationRule& rule);

}  // namespace deft::experiments
