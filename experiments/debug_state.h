#pragma once
// One step of a trial laid open in a safetensors file.

#include <filesystem>

#include "experiments/config.h"

namespace deft::experiments {

// Trains `step - 1` steps, then writes step `step` (from 1) as engine/train/debug_state.h describes. The whole batch is
// one micro-batch. Errors: as for a trial; usage, for a step beyond the budget.
void write_debug_state(TrialConfig config, const std::filesystem::path& data_folder, std::int64_t step, int threads,
                       const std::filesystem::path& file);

}  // namespace deft::experiments
