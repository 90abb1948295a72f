#pragma once
// How long a sweep would train its baseline for its size, beside the published regime.

#include <filesystem>
#include <string>
#include <vector>

#include "sweeps/driver/plan.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// As reporting/analysis/results/regime.h words it, of the baseline at its largest budget; how often its text is seen is
// known once it is tokenised in the root. Empty where no baseline is trained on text.
std::vector<std::string> plan_regime_notes(const Spec& spec, const Plan& plan, const std::filesystem::path& root);

}  // namespace deft::sweeps
