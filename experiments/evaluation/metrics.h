#pragma once
// Scores of a task from log-likelihoods; nothing here knows a model. A metric is a function in metrics.cpp, with its
// formula, and its entry there and in base/metric.cpp. Metrics of classification and regression: label_metrics.h; of
// generation: generation_time.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/evaluation/prompt.h"

namespace deft::experiments {

struct Score {
    double log_likelihood = 0;  // nats, summed over the continuation
    bool greedy = true;         // every token of it has the largest logit at its place
};

// The unit and direction are those of its entry in base/metric.h.
struct MetricValue {
    std::string name;
    double value = 0;
    std::int64_t n = 0;         // documents; of acc_all: groups
    double standard_error = 0;  // NaN: unknown
    double chance = 0;          // NaN: none
};

// The metrics that a task of that kind may ask for.
std::vector<std::string> metric_names(TaskKind kind);

// Index of the largest value: the first of equal ones; NaN counts as the largest (numpy's argmax).
std::size_t argmax(std::span<const double> values);

// The predicted choice. lengths divide the log-likelihoods (-1 / 0 = -infinity, 0 / 0 = NaN); empty: they are not.
std::size_t predict(Prediction rule, std::span<const double> log_likelihoods, std::span<const std::int64_t> lengths);

// Outcome of a document by one metric; for metrics other than accuracies, by acc.
struct Outcome {
    std::size_t chosen = 0;  // of short_answer: the first accepted answer that would be printed, else the likeliest
    bool right = false;
};
Outcome outcome(const Task& task, const std::string& metric, const Document& document, std::span<const Score> scores);

double mean(std::span<const double> values);
// sqrt(sum (x - m)^2 / (n - 1)) / sqrt(n); NaN for n < 2.
double standard_error(std::span<const double> values);

// -ll / ln 2 / UTF-8 bytes of the choice, its delimiter not counted.
double bits_per_byte(double log_likelihood, std::int64_t bytes);

// exp(-sum ll / count).
double perplexity(double log_likelihood, std::int64_t count);

// The task's metrics; scores: one for each request of each document, in order.
std::vector<MetricValue> document_metrics(const Task& task, std::span<const Document> documents,
                                          std::span<const Score> scores);

// Sums over the scored texts of a perplexity task.
struct TextTotals {
    double log_likelihood = 0;
    std::int64_t texts = 0, words = 0, bytes = 0;
    std::optional<std::int64_t> tokens;  // of the reference tokenizer, where its files are there
};

// token_perplexity is left out where its tokens are unknown.
std::vector<MetricValue> text_metrics(const Task& task, const TextTotals& totals);

}  // namespace deft::experiments
