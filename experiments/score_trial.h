#pragma once
// The scoring of a trained model: an attempt of its own, which adds scores and trains nothing.

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "experiments/attempt.h"
#include "experiments/config.h"

namespace deft::experiments {

struct ScoringPlaces {
    std::filesystem::path run_folder;   // of this attempt
    std::filesystem::path data_folder;  // of tokenised corpora, shared
    std::filesystem::path checkpoint;   // step_00001234, as save_trial_checkpoint() leaves it
};

// Scores the model by those of score_requests(config) whose keys are given, task by task: what a killed attempt had
// scored whole stays scored. `stop` is asked after every batch. Appends to run_folder/journal.jsonl. Returns an exit
// code: 0 ok, 1 failed (the Ended record says why: io, for a checkpoint that is gone or damaged; config, for one of
// another training, and for a task or records that are not those that were planned), 75 stopped.
int score_trial(const TrialConfig& config, std::span<const std::string> keys, const ScoringPlaces& places,
                const TrialSlot& slot, const std::function<bool()>& stop);

}  // namespace deft::experiments
