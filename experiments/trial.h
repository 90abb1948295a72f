#pragma once
// The training of one trial from start to end: data, steps, checkpoints, journal.

#include <filesystem>
#include <functional>
#include <limits>

#include "experiments/attempt.h"
#include "experiments/config.h"

namespace deft::experiments {

struct TrialPlaces {
    std::filesystem::path run_folder;         // of this attempt
    std::filesystem::path data_folder;        // of tokenised corpora, shared
    std::filesystem::path checkpoint_folder;  // of this configuration, shared by its attempts
    bool resume = true;                       // false: nobody knows what led to the checkpoints that are there
    std::filesystem::path start = {};         // the checkpoint of config.start; empty: weights are drawn
    // The last step that the journals of earlier attempts have: a checkpoint of a later one is ahead of them.
    std::int64_t covered_step = std::numeric_limits<std::int64_t>::max();
};

// Trains, appending to run_folder/journal.jsonl; goes on from the newest checkpoint where there is one. A model that is
// imported (is_imported()) is stored as a checkpoint, and no step is taken. `stop` is asked
// after every step, on all ranks alike: true saves a checkpoint and ends. What the trained model is asked is another
// attempt's: experiments/score_trial.h. Returns an exit code: 0 ok, 1 failed (the Ended record says why), 75 stopped
// with a checkpoint.
int run_trial(const TrialConfig& config, const TrialPlaces& places, const TrialSlot& slot,
              const std::function<bool()>& stop);

}  // namespace deft::experiments
