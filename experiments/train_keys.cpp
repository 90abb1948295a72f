#include "experiments/train_keys.h"

#include <string>

namespace deft::experiments {

std::vector<TrainKeyUse> unused_train_keys(const TrainConfig& train) {
    std::vector<TrainKeyUse> unused;
    const auto of = [&](const std::string& chosen, const TrainKeyUse& use) {
        if (chosen != use.value) unused.push_back(use);
    };
    for (const char* key : {"beta1", "beta2", "eps"}) of(train.optimizer, {key, "optimizer", "adamw"});
    of(train.optimizer, {"momentum", "optimizer", "sgd"});
    for (const char* key : {"decay_factor", "decay_stages"}) of(train.decay, {key, "decay", "step"});
    return unused;
}

}  // namespace deft::experiments
