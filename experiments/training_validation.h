#pragma once
// A model is validated while it trains, when eval.every says so; where its best weights are the result, they are kept.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/journal.h"
#include "engine/train/trainer.h"
#include "experiments/checkpoints.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"
#include "experiments/evaluation/validation_schedule.h"
#include "experiments/heartbeat.h"

namespace deft::experiments {

class TrainingValidation {
 public:
    // All arguments but `resumed` must outlive this.
    TrainingValidation(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                       const std::filesystem::path& checkpoint_folder, const Resumed& resumed);

    // Whether the model is to be validated before its next step. At the end the scoring of the trained model does that,
    // unless its best weights are asked for.
    bool due() const;

    // Journals the scores, and saves the weights if they are the best so far. Throws StopAsked when the trial is to
    // stop: the validation then stays due.
    void run(journal::Writer& journal, Heartbeat& heartbeat);

    // For the next checkpoint, after so much training.
    TrialProgress progress(double train_seconds) const { return {train_seconds, made_, best_ ? best_->step : 0}; }
    // The weights that are the result unless better ones follow; nothing where those are the last ones.
    const std::optional<BestWeights>& best() const { return best_; }

 private:
    bool selects() const { return config_.eval.select == SelectedWeights::best; }
    std::int64_t due_by_now() const;
    void keep_if_best(double value, Heartbeat& heartbeat);

    const TrialConfig& config_;
    const Dataset& dataset_;
    engine::Trainer& trainer_;
    const std::filesystem::path& folder_;
    ValidationSchedule schedule_;
    std::int64_t made_ = 0;
    std::optional<BestWeights> best_;
};

}  // namespace deft::experiments
