#include "experiments/evaluation/label_sums.h"

#include <limits>

#include "experiments/evaluation/head_sums.h"
#include "experiments/evaluation/label_metrics.h"

namespace deft::experiments {

std::int64_t LabelSums::count() const {
    return static_cast<std::int64_t>(has_values() ? values.size() : classes.size());
}

double LabelSums::loss() const {
    return lost / static_cast<double>(count());
}

void LabelSums::add(const LabelSums& others) {
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    lost += others.lost;
    append(classes, others.classes);
    append(predicted, others.predicted);
    append(values, others.values);
    append(predicted_values, others.predicted_values);
}

LabelSums label_sums(const LabelledSamplesPointer& samples, engine::Transformer& model, engine::Exec& exec,
                     std::int64_t batch, const BatchLoop& loop) {
    LabelSums sums;
    const auto add = [&](const engine::ModelInput& input, const BatchOutcome& outcome) {
        const auto B = static_cast<std::size_t>(input.B);
        for (const float loss : outcome.class_loss) sums.lost += static_cast<double>(loss);
        if (samples->has_values()) {
            sums.values.insert(sums.values.end(), input.value_target, input.value_target + B);
            sums.predicted_values.insert(sums.predicted_values.end(), outcome.value.begin(), outcome.value.end());
            return;
        }
        for (std::size_t b = 0; b < B; ++b) {
            const std::int32_t label = input.class_target[b], another = samples->classes() == 2 ? 1 - label : -1;
            sums.classes.push_back(label);
            sums.predicted.push_back(outcome.class_greedy[b] != 0 ? label : another);
        }
    };
    evaluate_samples(model, exec, samples, samples->size(), batch, add, loop);
    return sums;
}

namespace {

BinaryCounts binary_counts(const LabelSums& sums) {
    BinaryCounts counts;
    for (std::size_t i = 0; i < sums.classes.size(); ++i) counts.add(sums.classes[i] == 1, sums.predicted[i] == 1);
    return counts;
}

std::vector<double> hits(const LabelSums& sums) {
    std::vector<double> hits;
    for (std::size_t i = 0; i < sums.classes.size(); ++i) hits.push_back(sums.classes[i] == sums.predicted[i] ? 1 : 0);
    return hits;
}

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

MetricValue accuracy(const Task& task, const LabelSums& sums) {
    const std::vector<double> right = hits(sums);
    return {"", mean(right), sums.count(), standard_error(right), 1 / static_cast<double>(classes_of(task))};
}

MetricValue matthews(const Task&, const LabelSums& sums) {
    const BinaryCounts counts = binary_counts(sums);
    return {"", has_matthews(counts) ? matthews_correlation(counts) : kUndefined, sums.count(), kUndefined, kUndefined};
}

MetricValue f1(const Task&, const LabelSums& sums) {
    return {"", binary_f1(binary_counts(sums)), sums.count(), kUndefined, kUndefined};
}

MetricValue pearson(const Task&, const LabelSums& sums) {
    return {"", pearson_correlation(sums.predicted_values, sums.values), sums.count(), kUndefined, kUndefined};
}

MetricValue spearman(const Task&, const LabelSums& sums) {
    return {"", spearman_correlation(sums.predicted_values, sums.values), sums.count(), kUndefined, kUndefined};
}

struct LabelMetric {
    std::string_view name;
    TaskKind kind;
    MetricValue (*value)(const Task& task, const LabelSums& sums);
};

constexpr std::array kLabelMetrics = {
    LabelMetric{"acc", TaskKind::classification, accuracy},  LabelMetric{"mcc", TaskKind::classification, matthews},
    LabelMetric{"f1", TaskKind::classification, f1},         LabelMetric{"pearson", TaskKind::regression, pearson},
    LabelMetric{"spearman", TaskKind::regression, spearman},
};

}  // namespace

std::vector<std::string> label_metric_names(TaskKind kind) {
    std::vector<std::string> names;
    for (const LabelMetric& metric : kLabelMetrics)
        if (metric.kind == kind) names.emplace_back(metric.name);
    return names;
}

std::vector<MetricValue> label_metrics(const Task& task, const LabelSums& sums) {
    std::vector<MetricValue> values;
    for (const std::string& name : task.metrics)
        for (const LabelMetric& metric : kLabelMetrics)
            if (metric.name == name) {
                values.push_back(metric.value(task, sums));
                values.back().name = name;
            }
    return values;
}

}  // namespace deft::experiments
