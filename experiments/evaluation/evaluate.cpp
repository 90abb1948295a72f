#include "experiments/evaluation/evaluate.h"

#include <limits>

#include "experiments/evaluation/evaluate_task.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

namespace {

journal::Evaluation validation_record(const char* metric, const char* unit, double value, std::int64_t tokens,
                                      std::int64_t step) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    journal::Evaluation evaluation;
    evaluation.step = step;
    evaluation.task = "validation";
    evaluation.task_version = "1";
    evaluation.split = "valid";
    evaluation.metric = metric;
    evaluation.unit = unit;
    evaluation.better = "lower";
    evaluation.value = value;
    evaluation.n = tokens;
    evaluation.standard_error = kUnknown;
    evaluation.chance = kUnknown;
    return evaluation;
}

}  // namespace

std::vector<journal::Evaluation> evaluate(const TrialConfig& config, const Dataset& dataset, engine::Transformer& model,
                                          engine::Exec& exec, std::int64_t batch, std::int64_t step,
                                          const BetweenBatches& between_batches) {
    const CorpusLoss validation =
        corpus_loss(model, exec, dataset.valid, dataset.tokenizer, config.eval.validation_tokens, batch,
                    between_batches);
    std::vector<journal::Evaluation> all{
        validation_record("loss", "nats/token", validation.loss, validation.tokens, step),
        validation_record("bits_per_byte", "bits/byte", validation.bits_per_byte, validation.tokens, step),
        validation_record("unigram_entropy", "nats/token", validation.unigram_entropy, validation.tokens, step)};
    const TaskRun run{dataset.tokenizer,     model, exec, batch, config.eval.documents, config.data.embedded_seed,
                      config.base_folder, step, between_batches};
    const std::vector<journal::Evaluation> tasks = evaluate_tasks(config.eval.tasks, run);
    all.insert(all.end(), tasks.begin(), tasks.end());
    return all;
}

}  // namespace deft::experiments
