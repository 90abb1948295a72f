#pragma once
// The first warm-ups of a trial, trained to see whether its validation loss fluctuates.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/core/backend.h"
#include "experiments/config.h"
#include "experiments/datasets/load.h"
#include "experiments/tuning/fluctuation.h"

namespace deft::experiments {

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

    // What it cost.
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
// `go_on` is told the share that is done, before the first step and after each; false stops.
// Errors: config, where the trial or its corpus refuses to train, and for a warm-up of no tokens; memory, missing: as
// engine::Trainer.
Probe run_probe(const TrialConfig& config, const Dataset& dataset, const ProbeSettings& settings,
                const std::function<bool(double)>& go_on);

}  // namespace deft::experiments
