#pragma once
// How fast a trained model continues texts: a task that asks nothing of what the model knows, and reads a clock.

#include <cstdint>
#include <vector>

#include "engine/core/backend.h"
#include "experiments/evaluation/batch_loop.h"
#include "experiments/evaluation/metrics.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

// Tokens of each text: as many as the task asks for, or as the model has positions after a text's first.
std::int64_t tokens_drawn(const Task& task, const engine::TransformerConfig& model);

// Seconds of a pass of one token of each text, the mean over the passes of a round after its first token; one value a
// round. Each text begins with `first` and draws its tokens by the model's probabilities, so that texts differ and
// experts share them out. An untimed round comes first. planned_batch: samples of the model's length that its memory is
// planned for. Errors: config, for a model that continues no text or has too few positions, and for more texts than
// fit.
std::vector<double> time_generation(const Task& task, engine::Transformer& model, engine::Exec& exec,
                                    const engine::Backend& backend, std::int64_t planned_batch, std::int32_t first,
                                    const BatchLoop& loop = {});

// Metrics of those values: ms_per_token is the median in milliseconds, tokens_per_second all texts' tokens in that
// time.
std::vector<std::string> generation_metric_names();
std::vector<MetricValue> generation_metrics(const Task& task, const std::vector<double>& seconds);

}  // namespace deft::experiments
