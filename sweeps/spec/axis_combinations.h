#pragma once
// The combinations of a stage's axes for one of its recipes: every combination of values that applies to it.

#include <string>
#include <vector>

#include "base/config.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

struct AxisSetting {
    const Axis* axis = nullptr;
    const ConfigNode* value = nullptr;
};

// Whether `path` has an effect on this trial. A technique's settings have one only where the technique is on.
bool concerns(const std::string& path, const ConfigNode& trial);

// The combinations of values that the trial `tree` is repeated with, the first axis the slowest; one empty combination
// where no axis concerns it. A value without effect on a trial is left out. That is decided after the
// axes before it, and the axes that it goes together with, have switched their techniques on or off. Places of axes
// that go together and differ in such values alone are one.
std::vector<std::vector<AxisSetting>> combinations(const Stage& stage, const ConfigNode& tree);

// No fewer than these, by multiplication alone.
double most_combinations(const Stage& stage, const ConfigNode& tree);

}  // namespace deft::sweeps
