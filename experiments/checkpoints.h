#pragma once
// The checkpoints of one trial configuration: FOLDER/step_00001234, the newest few, to go on from, and
// FOLDER/best_00000567, weights alone, where the best validated ones are the result.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/train/checkpoint.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

struct SavedCheckpoint {
    std::filesystem::path folder;
    std::string model_sha256;
    std::int64_t model_bytes = 0;
};

// How far a trial has come, beside what its trainer counts.
struct TrialProgress {
    double train_seconds = 0;
    std::int64_t validations = 0;  // those due that were made, see validations_due()
    std::int64_t best_step = 0;    // of the weights that validated best and are kept apart; 0: none
};

// Saves weights, moments, counts, the tokenizer's files and the trial's configuration; keeps the newest config.keep.
// All ranks of the trainer call it, and rank 0 writes. Errors: io.
SavedCheckpoint save_trial_checkpoint(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                                      const std::filesystem::path& folder, const TrialProgress& progress);

// The same of an imported model, at step 0: weights alone, as `dtype`.
SavedCheckpoint save_imported_checkpoint(const TrialConfig& config, const Dataset& dataset, engine::Exec& exec,
                                         const engine::Transformer& model, engine::DType dtype,
                                         const std::filesystem::path& folder);

// The best weights so far by config.eval.metric.
struct BestWeights {
    std::int64_t step = 0;
    double value = 0;
    SavedCheckpoint checkpoint;
};

// The checkpoint that a trial resumed from.
struct Resumed {
    std::int64_t step = 0;  // 0: from the start
    TrialProgress progress;
    std::string note;  // what was passed over, and why; empty: nothing
    SavedCheckpoint checkpoint;
    std::optional<BestWeights> best;  // kept apart from that checkpoint
};

// Restores the newest checkpoint that is whole, of this configuration, not ahead of the journals, and has its best
// weights beside it where those are the result. Another is passed over for the one before it; where only checkpoints
// ahead of the journals are whole, the newest of them is restored. The note says both. covered_step: the last step in
// the journals.
Resumed resume_trial(const TrialConfig& config, engine::Trainer& trainer, const std::filesystem::path& folder,
                     std::int64_t covered_step);

// In place of those before. All ranks of the trainer call it. Errors: io.
BestWeights save_best_weights(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                              const std::filesystem::path& folder, double value);
void remove_best_weights(const std::filesystem::path& folder);

// The checkpoint of most steps, whole or not; nothing where there is none.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& folder);

// The weights to evaluate: the best ones, where such are kept, or else its newest checkpoint.
std::optional<std::filesystem::path> result_checkpoint(const std::filesystem::path& folder);

// All but the newest go; call it when a trial has ended well.
void keep_newest_checkpoints(const std::filesystem::path& folder, std::int64_t keep);

}  // namespace deft::experiments
