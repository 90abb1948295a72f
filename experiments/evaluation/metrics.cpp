#include "experiments/evaluation/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include "base/utf8.h"
#include "experiments/evaluation/answers.h"
#include "experiments/evaluation/generation_time.h"
#include "experiments/evaluation/label_sums.h"

namespace deft::experiments {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// One document with its scores, one a choice.
struct Scored {
    const Document& document;
    std::span<const Score> scores;

    double gold_log_likelihood() const { return scores[document.gold].log_likelihood; }
};

std::vector<Scored> by_document(std::span<const Document> documents, std::span<const Score> scores) {
    std::vector<Scored> result;
    for (const Document& document : documents) {
        result.push_back({document, scores.first(document.requests.size())});
        scores = scores.subspan(document.requests.size());
    }
    return result;
}

template <class Value>
std::vector<double> per_document(const std::vector<Scored>& all, Value&& value) {
    std::vector<double> values;
    for (const Scored& of : all) values.push_back(value(of));
    return values;
}

MetricValue mean_metric(const std::string& name, const std::vector<double>& values, double chance) {
    return {name, mean(values), static_cast<std::int64_t>(values.size()), standard_error(values), chance};
}

// The average score of guessing among the choices.
double chance_of(const Document& document, const std::function<double(std::size_t choice)>& value) {
    double sum = 0;
    for (std::size_t c = 0; c < document.choices.size(); ++c) sum += value(c);
    return sum / static_cast<double>(document.choices.size());
}

double chance_of_right(const Document& document) {
    return chance_of(document, [&](std::size_t choice) { return document.is_right(choice) ? 1.0 : 0.0; });
}

// acc: of multiple_choice, the share of documents whose chosen choice is right; of short_answer, of those where the
// model would print an accepted answer; of last_word, of those where every token of the target is the model's first
// choice. acc_norm: log-likelihoods divided by the choices' code points; acc_bytes: by their bytes.
MetricValue accuracy(const std::string& name, const Task& task, const std::vector<Scored>& all) {
    const auto right = per_document(
        all, [&](const Scored& of) { return outcome(task, name, of.document, of.scores).right ? 1.0 : 0.0; });
    const bool guessable = task.kind == TaskKind::multiple_choice;
    const auto chances = per_document(all, [](const Scored& of) { return chance_of_right(of.document); });
    return mean_metric(name, right, guessable ? mean(chances) : kNone);
}

// acc_all: the share of groups whose documents are all right by acc.
MetricValue group_accuracy(const std::string& name, const Task& task, const std::vector<Scored>& all) {
    struct Group {
        double right = 1, chance = 1;
    };
    std::map<std::string, Group> groups;
    for (const Scored& of : all) {
        Group& group = groups[of.document.group];
        if (!outcome(task, name, of.document, of.scores).right) group.right = 0;
        group.chance *= chance_of_right(of.document);
    }
    std::vector<double> right, chances;
    for (const auto& [key, group] : groups) {
        right.push_back(group.right);
        chances.push_back(group.chance);
    }
    return mean_metric(name, right, mean(chances));
}

// em, f1: the answer that the chosen choice gives, compared with the right answers (answers.h).
MetricValue answer_metric(const std::string& name, const Task& task, const std::vector<Scored>& all) {
    const auto value = [&](const Document& document, std::size_t choice) {
        const std::string& answer = document.choice_answers[choice];
        return name == "em" ? exact_match(answer, document.answers) : answer_f1(answer, document.answers);
    };
    const auto values = per_document(
        all, [&](const Scored& of) { return value(of.document, outcome(task, name, of.document, of.scores).chosen); });
    const auto chances = per_document(all, [&](const Scored& of) {
        return chance_of(of.document, [&](std::size_t choice) { return value(of.document, choice); });
    });
    return mean_metric(name, values, mean(chances));
}

// perplexity: exp(-m) with m the mean log-likelihood over documents, not tokens. Its standard error is that of m times
// the derivative, exp(-m).
MetricValue mean_perplexity(const std::string& name, const Task&, const std::vector<Scored>& all) {
    const auto values = per_document(all, [](const Scored& of) { return of.gold_log_likelihood(); });
    const double value = std::exp(-mean(values));
    return {name, value, static_cast<std::int64_t>(values.size()), value * standard_error(values), kNone};
}

// Bits per byte of the right choice, a mean over documents.
MetricValue gold_bits_per_byte(const std::string& name, const Task&, const std::vector<Scored>& all) {
    const auto bits = per_document(all, [](const Scored& of) {
        const std::string& gold = of.document.choices[of.document.gold];
        return bits_per_byte(of.gold_log_likelihood(), static_cast<std::int64_t>(gold.size()));
    });
    return mean_metric(name, bits, kNone);
}

// Sum over choices of (p - y)^2, with p the softmax of the log-likelihoods and y 1 for the gold choice, else 0. Source:
// Brier 1950, "Verification of forecasts expressed in terms of probability". A guess, 1 / k each, scores 1 - 1 / k.
MetricValue brier_score(const std::string& name, const Task&, const std::vector<Scored>& all) {
    const auto squares = per_document(all, [](const Scored& of) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0, square = 0;
        for (const Score& score : of.scores) largest = std::max(largest, score.log_likelihood);
        for (const Score& score : of.scores) sum += std::exp(score.log_likelihood - largest);
        for (std::size_t c = 0; c < of.scores.size(); ++c) {
            const double p = std::exp(of.scores[c].log_likelihood - largest) / sum, y = c == of.document.gold ? 1 : 0;
            square += (p - y) * (p - y);
        }
        return square;
    });
    const auto chances =
        per_document(all, [](const Scored& of) { return 1 - 1 / static_cast<double>(of.scores.size()); });
    return mean_metric(name, squares, mean(chances));
}

// A metric of documents: the kinds of tasks that have it, and its function.
struct DocumentMetric {
    std::string_view name;
    std::vector<TaskKind> kinds;
    MetricValue (*value)(const std::string& name, const Task& task, const std::vector<Scored>& all);
};

const std::vector<DocumentMetric>& all_document_metrics() {
    using enum TaskKind;
    static const std::vector<DocumentMetric> all = {
        {"acc", {multiple_choice, short_answer, last_word}, accuracy},
        {"acc_norm", {multiple_choice}, accuracy},
        {"acc_bytes", {multiple_choice}, accuracy},
        {"acc_all", {multiple_choice}, group_accuracy},
        {"em", {multiple_choice}, answer_metric},
        {"f1", {multiple_choice}, answer_metric},
        {"perplexity", {last_word}, mean_perplexity},
        {"brier_score", {multiple_choice}, brier_score},
        {"gold_bits_per_byte", {multiple_choice, short_answer, last_word}, gold_bits_per_byte},
    };
    return all;
}

// A metric of whole texts: of perplexities, exp(-sum of log-likelihoods / count). Nothing where the count that divides
// it is unknown.
struct TextMetric {
    std::string_view name;
    std::optional<double> (*value)(const TextTotals& totals);
};

const std::vector<TextMetric>& all_text_metrics() {
    static const std::vector<TextMetric> all = {
        {"word_perplexity",
         [](const TextTotals& of) { return std::optional(perplexity(of.log_likelihood, of.words)); }},
        {"byte_perplexity",
         [](const TextTotals& of) { return std::optional(perplexity(of.log_likelihood, of.bytes)); }},
        {"token_perplexity",
         [](const TextTotals& of) {
             return of.tokens ? std::optional(perplexity(of.log_likelihood, *of.tokens)) : std::nullopt;
         }},
        {"bits_per_byte",
         [](const TextTotals& of) { return std::optional(bits_per_byte(of.log_likelihood, of.bytes)); }},
    };
    return all;
}

}  // namespace

std::vector<std::string> metric_names(TaskKind kind) {
    if (kind == TaskKind::classification || kind == TaskKind::regression) return label_metric_names(kind);
    if (kind == TaskKind::generation) return generation_metric_names();
    std::vector<std::string> names;
    if (kind == TaskKind::perplexity)
        for (const TextMetric& metric : all_text_metrics()) names.emplace_back(metric.name);
    for (const DocumentMetric& metric : all_document_metrics())
        if (std::find(metric.kinds.begin(), metric.kinds.end(), kind) != metric.kinds.end())
            names.emplace_back(metric.name);
    return names;
}

std::size_t argmax(std::span<const double> values) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) return i;
        if (values[i] > values[best]) best = i;
    }
    return best;
}

std::size_t predict(Prediction rule, std::span<const double> log_likelihoods, std::span<const std::int64_t> lengths) {
    if (rule == Prediction::first_if_greater) return log_likelihoods[0] > log_likelihoods[1] ? 0 : 1;
    if (rule == Prediction::second_if_greater) return log_likelihoods[1] > log_likelihoods[0] ? 1 : 0;
    std::vector<double> values(log_likelihoods.begin(), log_likelihoods.end());
    for (std::size_t i = 0; i < lengths.size(); ++i) values[i] /= static_cast<double>(lengths[i]);
    return argmax(values);
}

Outcome outcome(const Task& task, const std::string& metric, const Document& document, std::span<const Score> scores) {
    std::vector<double> log_likelihoods;
    for (const Score& score : scores) log_likelihoods.push_back(score.log_likelihood);
    if (task.kind == TaskKind::last_word || task.kind == TaskKind::short_answer) {
        const auto printed =
            std::find_if(scores.begin(), scores.end(), [](const Score& score) { return score.greedy; });
        if (printed == scores.end()) return {argmax(log_likelihoods), false};
        return {static_cast<std::size_t>(printed - scores.begin()), true};
    }
    std::vector<std::int64_t> lengths;
    for (const std::string& choice : document.choices) {
        if (metric == "acc_norm") lengths.push_back(count_code_points(choice));
        if (metric == "acc_bytes") lengths.push_back(static_cast<std::int64_t>(choice.size()));
    }
    const Prediction rule = lengths.empty() ? task.prompt.prediction : Prediction::argmax;
    const std::size_t chosen = predict(rule, log_likelihoods, lengths);
    return {chosen, document.is_right(chosen)};
}

double mean(std::span<const double> values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
}

double standard_error(std::span<const double> values) {
    if (values.size() < 2) return kNone;
    const double n = static_cast<double>(values.size()), m = mean(values);
    double squares = 0;
    for (const double v : values) squares += (v - m) * (v - m);
    return std::sqrt(squares / (n - 1)) / std::sqrt(n);
}

double bits_per_byte(double log_likelihood, std::int64_t bytes) {
    return -log_likelihood / static_cast<double>(bytes) / std::numbers::ln2;
}

double perplexity(double log_likelihood, std::int64_t count) {
    return std::exp(-log_likelihood / static_cast<double>(count));
}

std::vector<MetricValue> document_metrics(const Task& task, std::span<const Document> documents,
                                          std::span<const Score> scores) {
    const std::vector<Scored> all = by_document(documents, scores);
    std::vector<MetricValue> values;
    for (const std::string& name : task.metrics)
        for (const DocumentMetric& metric : all_document_metrics())
            if (metric.name == name) values.push_back(metric.value(name, task, all));
    return values;
}

std::vector<MetricValue> text_metrics(const Task& task, const TextTotals& totals) {
    std::vector<MetricValue> values;
    for (const std::string& name : task.metrics)
        for (const TextMetric& metric : all_text_metrics())
            if (const auto value = metric.name == name ? metric.value(totals) : std::nullopt)
                values.push_back({name, *value, totals.texts, kNone, kNone});
    return values;
}

}  // namespace deft::experiments
