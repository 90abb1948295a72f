#pragma once
// Loss against what had been consumed, and how it is read between its points.

#include <optional>
#include <vector>

namespace deft::reporting {

struct LossPoint {
    double consumed = 0;  // tokens, FLOPs, seconds or dollars, of one unit throughout a curve
    double loss = 0;      // nats a token
};
using LossCurve = std::vector<LossPoint>;  // what was consumed grows

// Between the two points around it linear in the logarithm of what was consumed, in which losses fall about evenly;
// from a first point that had consumed nothing linear in it. Nothing beyond the curve's ends.
std::optional<double> loss_at(const LossCurve& curve, double consumed);

// The least that was consumed for a loss this low, by the same rule; nothing where the curve has none. A first point
// that is low enough counts.
std::optional<double> consumed_for(const LossCurve& curve, double loss);

// As far as all of them go, from the farthest of their beginnings, at every point of any of them. All have a point.
// Empty where one begins after another's end.
LossCurve mean_curve(const std::vector<LossCurve>& curves);

}  // namespace deft::reporting
