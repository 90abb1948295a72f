#include "experiments/train_keys.h"

namespace deft::experiments {

const char* TrainKeyUse::chooser() const {
    return std::holds_alternative<engine::Decay>(needs) ? "decay" : "optimizer";
}

const char* TrainKeyUse::value() const {
    return std::visit([](auto choice) { return name_of(choice); }, needs);
}

const std::vector<TrainKeyUse>& train_key_uses() {
    using engine::Decay, engine::OptimizerKind;
    static const std::vector<TrainKeyUse> uses = {{"beta1", OptimizerKind::adamw}, {"beta2", OptimizerKind::adamw},
                                                  {"eps", OptimizerKind::adamw},   {"momentum", OptimizerKind::sgd},
                                                  {"decay_factor", Decay::step},   {"decay_stages", Decay::step}};
    return uses;
}

std::vector<TrainKeyUse> unused_train_keys(const TrainConfig& train) {
    std::vector<TrainKeyUse> unused;
    for (const TrainKeyUse& use : train_key_uses())
        if (use.needs != decltype(use.needs)(train.optimizer) && use.needs != decltype(use.needs)(train.decay))
            unused.push_back(use);
    return unused;
}

}  // namespace deft::experiments
