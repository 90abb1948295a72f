#include "experiments/training_validation.h"

#include <cmath>

#include "base/metric.h"
#include "base/score_key.h"
#include "experiments/attempt.h"
#include "experiments/evaluation/validation.h"

namespace deft::experiments {

TrainingValidation::TrainingValidation(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                                       const std::filesystem::path& checkpoint_folder, const Resumed& resumed)
    : config_(config),
      dataset_(dataset),
      trainer_(trainer),
      folder_(checkpoint_folder),
      schedule_(parse_validation_schedule(config.eval.every)),
      made_(resumed.progress.validations),
      best_(resumed.best) {}

std::int64_t TrainingValidation::due_by_now() const {
    const std::int64_t on_the_way = validations_due(schedule_, trainer_.counts(), budget_layer_tokens(config_.train));
    return on_the_way + (trainer_.done() ? 1 : 0);
}

bool TrainingValidation::due() const {
    if (schedule_.unit == ValidationSchedule::Unit::never || (trainer_.done() && !selects())) return false;
    return due_by_now() > made_;
}

void TrainingValidation::run(journal::Writer& journal, Heartbeat& heartbeat) {
    std::vector<journal::Evaluation> scores = validation_scores(
        dataset_, trainer_.model(), trainer_.exec(), config_.eval.validation_tokens, trainer_.samples_at_once(),
        trainer_.counts().steps, {[&] { heartbeat.beat_or_stop(); }, trainer_.ranks()});
    for (journal::Evaluation& score : scores) {
        score.score_key = kWhileTraining;
        journal.write(score);
        const bool is_whole = score.split == scores.front().split;  // not one of several splits
        if (selects() && is_whole && score.metric == config_.eval.metric) keep_if_best(score.value, heartbeat);
    }
    made_ = due_by_now();
}

// The first of equal values stays, so that the weights kept before a kill are kept again. NaN is never best.
void TrainingValidation::keep_if_best(double value, Heartbeat& heartbeat) {
    if (std::isnan(value)) return;
    const bool is_better =
        !best_ ||
        (find_metric(config_.eval.metric)->better == Better::higher ? value > best_->value : value < best_->value);
    if (!is_better) return;
    if (trainer_.done()) {  // the last checkpoint holds these weights
        best_.reset();
        return;
    }
    // Collects the weights of all ranks: where ranks divide the experts, rank 0 has only a part and writes them all.
    const std::int64_t parameters = engine::model_size(trainer_.config().model).parameters;
    heartbeat.begin("saving the best weights", saving_seconds(parameters, 4));
    best_ = save_best_weights(config_, dataset_, trainer_, folder_, value);
}

}  // namespace deft::experiments
