#pragma once
// Keys of [train] that mean something beside one choice of another key alone.

#include <vector>

#include "experiments/config.h"

namespace deft::experiments {

// `key` is of the trials whose `chooser` is `value`.
struct TrainKeyUse {
    const char* key;
    const char* chooser;
    const char* value;
};

// All of them.
const std::vector<TrainKeyUse>& train_key_uses();

// Keys of another choice: they are refused in a file, and excluded from the configuration's JSON and hashes.
std::vector<TrainKeyUse> unused_train_keys(const TrainConfig& train);

}  // namespace deft::experiments
