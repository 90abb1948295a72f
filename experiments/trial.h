#pragma once
// One trial from start to end: data, training, evaluation, journal.

#include <filesystem>
#include <functional>

#include "engine/core/backend.h"
#include "experiments/config.h"

namespace deft::experiments {

struct TrialPlaces {
    std::filesystem::path run_folder;         // of this attempt
    std::filesystem::path data_folder;        // of tokenised corpora, shared
    std::filesystem::path checkpoint_folder;  // of this configuration, shared by its attempts
    bool resume = true;                       // false: nobody knows what led to the checkpoints that are there
};

// What the driver gives a trial to compute with; of several GPUs the environment shows it one.
struct TrialSlot {
    engine::Device device = engine::Device::cpu;
    int threads = 1;
};

// Trains and evaluates, appending to run_folder/journal.jsonl; goes on from the newest checkpoint where there is one.
// `stop` is asked after every step and every batch of scoring: true saves a checkpoint and ends. Returns an exit code: 0 ok, 1 failed (the Ended
// record says why), 75 stopped with a checkpoint.
int run_trial(const TrialConfig& config, const TrialPlaces& places, const TrialSlot& slot,
              const std::function<bool()>& stop);

}  // namespace deft::experiments
