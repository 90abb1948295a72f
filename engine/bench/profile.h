#pragma once
// Where the time of a training step goes: every op of it, and what no op accounts for.

#include <string>
#include <vector>

#include "engine/core/op_profile.h"
#include "engine/train/trainer.h"

namespace deft::engine {

// One op at one shape: all its calls of a step together.
struct ProfiledOp {
    std::string op, shape;
    Phase phase = Phase::forward;
    int calls = 0;
    double seconds = 0;           // median over the steps that have it
    double flops = 0, bytes = 0;  // of one step
};

struct StepProfile {
    double seconds = 0;           // of a step: the median
    std::vector<ProfiledOp> ops;  // by phase, the longest first
    std::vector<OpRecord> last;   // of the last step, in order
    double last_seconds = 0;      // of that step
    double outside_ops = 0;       // seconds of a step that no op accounts for: the median
};

// Two steps to warm up, then `steps` under the profile. Errors: as Trainer::step; config, for a device whose ops are
// still running when they return; usage, for a trial that ends before.
StepProfile profile_steps(Trainer& trainer, int steps);

// Chrome's and Perfetto's trace format (JSON, complete events) of the last step.
std::string chrome_trace(const StepProfile& profile, const std::string& name);

}  // namespace deft::engine
