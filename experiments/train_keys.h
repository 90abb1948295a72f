#pragma once
// Keys of [train] that mean something beside one choice of another key alone.

#include <string>
#include <variant>
#include <vector>

#include "experiments/config.h"

namespace deft::experiments {

// `key` is of the trials that have this optimizer or decay.
struct TrainKeyUse {
    const char* key;
    std::variant<engine::OptimizerKind, engine::Decay> needs;

    const char* chooser() const;  // the key of [train] that chooses it
    const char* value() const;    // its name
};

// All of them.
const std::vector<TrainKeyUse>& train_key_uses();

// Keys of another choice: they are refused in a file, and excluded from the configuration's JSON and hashes.
std::vector<TrainKeyUse> unused_train_keys(const TrainConfig& train);

}  // namespace deft::experiments
