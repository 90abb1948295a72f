#pragma once
// Predictions of a model on labelled texts that it has not trained on: classes or values.

#include <cstdint>
#include <vector>

#include "engine/core/exec.h"
#include "engine/models/transformer.h"
#include "experiments/datasets/labelled_dataset.h"
#include "experiments/evaluation/metrics.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

struct LabelSums {
    double lost = 0;                               // nats, or squared errors
    std::vector<std::int32_t> classes, predicted;  // class of each text, and that class where it is predicted, else
                                                   // another one: of two classes the other, of more -1
    std::vector<double> values, predicted_values;  // or its value, and the predicted one

    bool has_values() const { return !values.empty(); }
    std::int64_t count() const;
    double loss() const;  // mean a text
    void add(const LabelSums& others);
};

// Predictions for all samples, at most `batch` at once.
LabelSums label_sums(const LabelledSamplesPointer& samples, engine::Transformer& model, engine::Exec& exec,
                     std::int64_t batch, const BatchLoop& loop);

// Metrics of classification, or of regression.
std::vector<std::string> label_metric_names(TaskKind kind);
// The task's metrics, in its order.
std::vector<MetricValue> label_metrics(const Task& task, const LabelSums& sums);

}  // namespace deft::experiments
