#pragma once
// Where the time of a training step goes: every op of it, and what no op accounts for.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/op_profile.h"
#include "engine/train/trainer.h"
#include "kernels/cuda/product_plans.h"

namespace deft::engine {

// One op at one shape: all its calls of the step together.
struct ProfiledOp {
    std::string op, shape;
    Phase phase = Phase::forward;
    int calls = 0;
    double seconds = 0;
    double flops = 0, bytes = 0;
    std::vector<kernels::cuda::ProductRecord> products = {};  // of a GPU's op, each shape and path once
};

// One step, whole: the seconds of its ops and outside_ops are its seconds.
struct StepProfile {
    std::int64_t step = 0;  // of the trial, from 1
    double seconds = 0;
    std::vector<ProfiledOp> ops;           // by phase, the longest first
    std::vector<OpRecord> records;         // in order
    double outside_ops = 0;                // that no op accounts for
    std::vector<double> steps = {};        // seconds of all profiled steps, in order
    kernels::cuda::PlanCounts plans = {};  // of a GPU's products, since the trainer began
};

// Steps that warm up caches before the first that is profiled.
inline constexpr std::int64_t kProfileWarmUpSteps = 2;

// Warms up, then takes the step of median length among `steps` profiled ones; of an even number the shorter of the two.
// Steps are not averaged: where a schedule grows, each has shapes of its own. Errors: as Trainer::step; usage, for a
// trial that ends before.
StepProfile profile_steps(Trainer& trainer, int steps);

// Matrix products of a step on a GPU, each shape and path once.
std::vector<kernels::cuda::ProductRecord> products_of(const StepProfile& profile);

// Chrome's and Perfetto's trace format (JSON, complete events) of that step.
std::string chrome_trace(const StepProfile& profile, const std::string& name);

}  // namespace deft::engine
