#pragma once
// One trial from start to end: data, training, evaluation, journal.

#include <filesystem>

#include "experiments/config.h"

namespace deft::experiments {

// Trains and evaluates in `run_folder`, appending to run_folder/journal.jsonl. Returns the journal's final state as an
// exit code: 0 ok, 1 failed (the Ended record says why). Runs on `threads` threads.
int run_trial(const TrialConfig& config, const std::filesystem::path& run_folder, int threads);

}  // namespace deft::experiments
