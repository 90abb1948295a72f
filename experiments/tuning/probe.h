#pragma once
// Whether a validation loss fluctuates: the sign by which a curriculum or a token dropping is tuned (arXiv 2212.03597,
// section 3: the smallest start and the longest duration without it).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/backend.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

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
    double excess = 0;      // loss / minimum - 1; infinite where the loss is NaN
};

// The first point of the curve, at most rule.warmups in, that lies more than rule.threshold above the smallest loss
// before it, or is not finite.
std::optional<Fluctuation> find_fluctuation(std::span<const LossPoint> curve, const FluctuationRule& rule);

// The first warm-ups of a trial, trained to see whether its validation loss fluctuates.

struct ProbeSettings {
    FluctuationRule rule;
    std::int64_t warmup_tokens = 0;  // layer-averaged: the length of one warm-up, whatever the configuration's own is
    std::int64_t validation_tokens = 8192;  // the first ones, at each evaluation
    engine::Device device = engine::Device::cpu;
    int threads = 1;
};

struct Probe {
    std::vector<LossPoint> curve;  // from the untrained model on
    std::optional<Fluctuation> fluctuation;
    bool stopped = false;  // by whoever watched: what it would have shown is unknown

    // The probe's cost.
    std::int64_t steps = 0;
    std::int64_t input_tokens = 0;
    std::int64_t evaluated_tokens = 0;
    double flops = 0;  // of training and evaluation
    double seconds = 0;

    bool passes() const { return !fluctuation && !stopped; }
    double last_loss() const { return curve.empty() ? 0 : curve.back().loss; }
};

// Trains `config` from its start, its schedules untouched, until rule.warmups are consumed or its budget is: the step
// that reaches the end is the last. Ends at the first fluctuation; a loss or gradient that is not finite is one.
// `go_on` gets the fraction done, before the first step and after each; false stops.
// Errors: config, where the trial or its corpus refuses to train, and for a warm-up of no tokens; memory, missing: as
// engine::Trainer.
Probe run_probe(const TrialConfig& config, const Dataset& dataset, const ProbeSettings& settings,
                const std::function<bool(double)>& go_on);

}  // namespace deft::experiments
