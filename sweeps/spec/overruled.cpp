#include "sweeps/spec/overruled.h"

#include "experiments/train_keys.h"

namespace deft::sweeps {

void drop_overruled(ConfigNode& trial, const ConfigNode& overlay) {
    const ConfigNode* model = overlay.find("model");
    if (model != nullptr && model->find("preset") != nullptr) trial.erase("model");
    const ConfigNode* train = overlay.find("train");
    ConfigNode* below = trial.find("train");
    if (train == nullptr || below == nullptr) return;
    // Two spellings of the budget.
    if (train->find("epochs") != nullptr) below->erase("budget_tokens");
    if (train->find("budget_tokens") != nullptr) below->erase("epochs");
    for (const experiments::TrainKeyUse& use : experiments::train_key_uses()) {
        const ConfigNode* chosen = train->find(use.chooser());
        if (chosen != nullptr && chosen->text != use.value()) below->erase(use.key);
    }
}

}  // namespace deft::sweeps
