#include "experiments/evaluation/validation.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/metric.h"
#include "base/score_key.h"
#include "experiments/evaluation/head_sums.h"
#include "experiments/evaluation/label_sums.h"
#include "experiments/evaluation/masked_loss.h"

namespace deft::experiments {

namespace {

using BertSamplesPointer = std::shared_ptr<const engine::BertSamples>;
using ImageSamplesPointer = std::shared_ptr<const engine::ImageSamples>;

// Accuracy over all the images.
HeadSums class_sums(const ImageSamplesPointer& images, engine::Transformer& model, engine::Exec& exec,
                    std::int64_t batch, const BatchLoop& loop) {
    HeadSums sums;
    const auto add = [&](const engine::ModelInput& input, const BatchOutcome& outcome) {
        sums.add(outcome.class_loss, outcome.class_greedy, input.class_target);
    };
    evaluate_samples(model, exec, images, images->size(), batch, add, loop);
    return sums;
}

CorpusLoss packed_loss(const Dataset& dataset, engine::Transformer& model, engine::Exec& exec, std::int64_t tokens,
                       std::int64_t batch, const BatchLoop& loop) {
    return corpus_loss(model, exec, std::get<engine::TokenCorpus>(dataset.valid),
                       std::get<engine::Tokenizer>(dataset.tokenizer), tokens, batch, loop);
}

// Scores of one split or all of them.
struct LabelledScores {
    std::string split;
    LabelSums sums;
};

// The pooled ones first, then each split's where there are several.
std::vector<LabelledScores> labelled_scores(const LabelledDataset& labelled, engine::Transformer& model,
                                            engine::Exec& exec, std::int64_t batch, const BatchLoop& loop) {
    std::vector<LabelledScores> of_splits;
    LabelSums all;
    for (const LabelledSplit& split : labelled.splits) {
        of_splits.push_back({split.name, label_sums(split.samples, model, exec, batch, loop)});
        all.add(of_splits.back().sums);
    }
    if (of_splits.size() > 1) of_splits.insert(of_splits.begin(), {kAllSplits, std::move(all)});
    return of_splits;
}

}  // namespace

std::vector<journal::Evaluation> validation_scores(const Dataset& dataset, engine::Transformer& model,
                                                   engine::Exec& exec, std::int64_t tokens, std::int64_t batch,
                                                   std::int64_t step, const BatchLoop& loop) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    // unit: where the samples decide it.
    const auto score = [&](const std::string& metric, double value, std::int64_t n, const char* unit = nullptr) {
        journal::Evaluation evaluation;
        evaluation.step = step;
        evaluation.task = kValidationTask;
        evaluation.task_version = "1";
        evaluation.split = "valid";
        evaluation.metric = metric;
        const Metric& entry = *find_metric(metric);
        evaluation.unit = unit != nullptr ? std::string(unit) : std::string(entry.unit);
        evaluation.better = to_text(entry.better);
        evaluation.value = value;
        evaluation.n = n;
        evaluation.standard_error = kUnknown;
        evaluation.chance = kUnknown;
        return evaluation;
    };
    if (const auto* bert = std::get_if<BertSamplesPointer>(&dataset.valid)) {
        const MaskedLoss masked = masked_loss(model, exec, *bert, tokens, batch, loop);
        std::vector<journal::Evaluation> scores = {
            score("loss", masked.loss, masked.targets, "nats/token"), score("acc", masked.accuracy, masked.targets),
            score("bits_per_token", masked.loss / std::numbers::ln2, masked.targets),
            score("unigram_entropy", masked.target_entropy, masked.targets, "nats/token")};
        if (masked.orders > 0) {
            scores.push_back(score("order_loss", masked.order_loss, masked.orders, "nats/sample"));
            scores.push_back(score("order_acc", masked.order_accuracy, masked.orders));
        }
        return scores;
    }
    if (dataset.labelled) {
        const Task& task = dataset.labelled->task;
        std::vector<journal::Evaluation> scores;
        for (const LabelledScores& of : labelled_scores(*dataset.labelled, model, exec, batch, loop)) {
            const char* unit = of.sums.has_values() ? "squared/text" : "nats/text";
            scores.push_back(score("loss", of.sums.loss(), of.sums.count(), unit));
            for (const MetricValue& metric : label_metrics(task, of.sums)) {
                scores.push_back(score(metric.name, metric.value, metric.n));
                scores.back().standard_error = metric.standard_error;
                scores.back().chance = metric.chance;
            }
            const auto first = scores.end() - static_cast<std::ptrdiff_t>(1 + task.metrics.size());
            for (auto added = first; added != scores.end(); ++added) {
                added->task_version = task.version;
                added->split = of.split;
            }
        }
        return scores;
    }
    if (const auto* images = std::get_if<ImageSamplesPointer>(&dataset.valid)) {
        const HeadSums classes = class_sums(*images, model, exec, batch, loop);
        journal::Evaluation accuracy = score("acc", classes.accuracy(), classes.targets);
        accuracy.standard_error =
            std::sqrt(classes.accuracy() * (1 - classes.accuracy()) / static_cast<double>(classes.targets));
        accuracy.chance = 1 / static_cast<double>((*images)->images.classes);
        return {score("loss", classes.loss(), classes.targets, "nats/image"), accuracy,
                score("unigram_entropy", classes.target_entropy(), classes.targets, "nats/image")};
    }
    const CorpusLoss loss = packed_loss(dataset, model, exec, tokens, batch, loop);
    return {score("loss", loss.loss, loss.tokens, "nats/token"),
            score("bits_per_byte", loss.bits_per_byte, loss.tokens),
            score("unigram_entropy", loss.unigram_entropy, loss.tokens, "nats/token")};
}

ValidationLoss validation_loss(const Dataset& dataset, engine::Transformer& model, engine::Exec& exec,
                               std::int64_t tokens, std::int64_t batch) {
    if (const auto* bert = std::get_if<BertSamplesPointer>(&dataset.valid)) {
        const MaskedLoss masked = masked_loss(model, exec, *bert, tokens, batch);
        return {masked.loss, masked.tokens};
    }
    if (dataset.labelled) {
        const LabelSums sums = labelled_scores(*dataset.labelled, model, exec, batch, {}).front().sums;
        return {sums.loss(), sums.count() * dataset.seqlen};
    }
    if (const auto* images = std::get_if<ImageSamplesPointer>(&dataset.valid)) {
        const HeadSums classes = class_sums(*images, model, exec, batch, {});
        return {classes.loss(), classes.targets * dataset.seqlen};
    }
    const CorpusLoss loss = packed_loss(dataset, model, exec, tokens, batch, {});
    return {loss.loss, loss.tokens};
}

}  // namespace deft::experiments
