#pragma once
// The checkpoints of one trial configuration: FOLDER/step_00001234, the newest few.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/train/checkpoint.h"
#include "experiments/config.h"
#include "experiments/datasets/load.h"

namespace deft::experiments {

struct SavedCheckpoint {
    std::filesystem::path folder;
    std::string model_sha256;
    std::int64_t model_bytes = 0;
};

// Saves weights, moments, counts, the tokenizer's files and the trial's configuration; keeps the newest config.keep.
// Errors: io.
SavedCheckpoint save_trial_checkpoint(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                                      const std::filesystem::path& folder, double train_seconds);

// What a trial went on from.
struct Resumed {
    std::int64_t step = 0;     // 0: from the start
    double train_seconds = 0;  // of training until there
    std::string note;          // what was passed over, and why; empty: nothing
    SavedCheckpoint checkpoint;
};

// Restores the newest checkpoint that is whole and of this configuration; a damaged one is passed over for the one
// before it, which the note tells.
Resumed resume_trial(const TrialConfig& config, engine::Trainer& trainer, const std::filesystem::path& folder);

// The checkpoint of most steps, whole or not; nothing where there is none.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& folder);

// All but the newest go; call it when a trial has ended well.
void keep_newest_checkpoints(const std::filesystem::path& folder, std::int64_t keep);

}  // namespace deft::experiments
