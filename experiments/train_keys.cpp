#include "experiments/train_keys.h"

#include <string>

namespace deft::experiments {

const std::vector<TrainKeyUse>& train_key_uses() {
    static const std::vector<TrainKeyUse> uses = {{"beta1", "optimizer", "adamw"},   {"beta2", "optimizer", "adamw"},
                                                  {"eps", "optimizer", "adamw"},     {"momentum", "optimizer", "sgd"},
                                                  {"decay_factor", "decay", "step"}, {"decay_stages", "decay", "step"}};
    return uses;
}

std::vector<TrainKeyUse> unused_train_keys(const TrainConfig& train) {
    std::vector<TrainKeyUse> unused;
    for (const TrainKeyUse& use : train_key_uses()) {
        const std::string chosen = std::string(use.chooser) == "decay" ? train.decay : train.optimizer;
        if (chosen != use.value) unused.push_back(use);
    }
    return unused;
}

}  // namespace deft::experiments
