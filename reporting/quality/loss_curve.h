#pragma once
// Loss against consumed tokens, and the one number in which two such curves are compared.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "results_db/store.h"

namespace deft::reporting {

struct LossPoint {
    double tokens = 0;  // layer-averaged: what the papers call consumed tokens
    double loss = 0;    // nats a token
};
using LossCurve = std::vector<LossPoint>;  // tokens grow

inline constexpr std::size_t kMostCurvePoints = 256;

// Of the steps that were logged, and of the validations on the way; at most kMostCurvePoints, each the mean of its
// neighbours.
LossCurve training_curve(const results_db::TrialCurve& trial);
LossCurve validation_curve(const results_db::TrialCurve& trial);

// The mean loss over the tokens from half of `tokens` to `tokens`, the loss between points being linear in the
// logarithm of the tokens. Half, since the fall at the beginning would hide everything else; a mean, since a single
// step's loss is mostly that of its batch. NaN where a point there is not finite. Nothing where the curve does not
// span that half, or has less than two points in it.
std::optional<double> late_loss(const LossCurve& curve, double tokens);

// As far as all of them go; 0 where one is empty.
double common_tokens(std::span<const LossCurve* const> curves);

}  // namespace deft::reporting
