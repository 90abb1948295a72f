#include "experiments/evaluation/validation.h"

#include <limits>

#include "base/score_key.h"

namespace deft::experiments {

std::vector<journal::Evaluation> validation_scores(const Dataset& dataset, engine::Transformer& model,
                                                   engine::Exec& exec, std::int64_t tokens, std::int64_t batch,
                                                   std::int64_t step, const BetweenBatches& between_batches) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    const CorpusLoss loss =
        corpus_loss(model, exec, dataset.valid, dataset.tokenizer, tokens, batch, between_batches);
    const auto score = [&](const char* metric, const char* unit, double value) {
        journal::Evaluation evaluation;
        evaluation.step = step;
        evaluation.task = kValidationTask;
        evaluation.task_version = "1";
        evaluation.split = "valid";
        evaluation.metric = metric;
        evaluation.unit = unit;
        evaluation.better = "lower";
        evaluation.value = value;
        evaluation.n = loss.tokens;
        evaluation.standard_error = kUnknown;
        evaluation.chance = kUnknown;
        return evaluation;
    };
    return {score("loss", "nats/token", loss.loss), score("bits_per_byte", "bits/byte", loss.bits_per_byte),
            score("unigram_entropy", "nats/token", loss.unigram_entropy)};
}

}  // namespace deft::experiments
