#include "experiments/evaluation/metrics.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/utf8.h"

namespace deft::experiments {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The scores of one document, one a choice.
struct DocumentScores {
    const Document& document;
    std::vector<double> log_likelihoods;
    bool gold_greedy = false;
};

std::vector<DocumentScores> by_document(std::span<const Document> documents, std::span<const Score> scores) {
    std::vector<DocumentScores> result;
    std::size_t next = 0;
    for (const Document& document : documents) {
        DocumentScores of{document, {}, false};
        of.gold_greedy = scores[next + document.gold].greedy;
        for (std::size_t c = 0; c < document.requests.size(); ++c)
            of.log_likelihoods.push_back(scores[next++].log_likelihood);
        result.push_back(std::move(of));
    }
    return result;
}

template <class Value>
std::vector<double> per_document(const std::vector<DocumentScores>& scores, Value&& value) {
    std::vector<double> values;
    for (const DocumentScores& of : scores) values.push_back(value(of));
    return values;
}

double gold_log_likelihood(const DocumentScores& of) {
    return of.log_likelihoods[of.document.gold];
}

Metric mean_metric(const std::string& name, const char* unit, const char* better, const std::vector<double>& values,
                   double chance) {
    return {name, unit, better, mean(values), static_cast<std::int64_t>(values.size()), standard_error(values), chance};
}

Metric choice_accuracy(const std::string& name, const Task& task, const std::vector<DocumentScores>& scores) {
    const auto right = per_document(scores, [&](const DocumentScores& of) {
        std::vector<std::int64_t> lengths;
        for (const std::string& choice : of.document.choices) {
            if (name == "acc_norm") lengths.push_back(count_code_points(choice));
            if (name == "acc_bytes") lengths.push_back(static_cast<std::int64_t>(choice.size()));
        }
        const Prediction rule = lengths.empty() ? task.prompt.prediction : Prediction::argmax;
        return predict(rule, of.log_likelihoods, lengths) == of.document.gold ? 1.0 : 0.0;
    });
    const auto chances = per_document(
        scores, [](const DocumentScores& of) { return 1.0 / static_cast<double>(of.document.choices.size()); });
    return mean_metric(name, "", "higher", right, mean(chances));
}

// exp(-m) with m the mean log-likelihood; its standard error is that of m times the derivative, exp(-m).
Metric mean_perplexity(const std::string& name, const std::vector<DocumentScores>& scores) {
    const std::vector<double> values = per_document(scores, gold_log_likelihood);
    const double value = std::exp(-mean(values));
    return {name, "", "lower", value, static_cast<std::int64_t>(values.size()), value * standard_error(values), kNone};
}

}  // namespace

std::vector<const char*> metric_names(TaskKind kind) {
    switch (kind) {
        case TaskKind::multiple_choice:
            return {"acc", "acc_norm", "acc_bytes", "gold_bits_per_byte"};
        case TaskKind::last_word:
            return {"acc", "perplexity", "gold_bits_per_byte"};
        case TaskKind::perplexity:
            return {"word_perplexity", "byte_perplexity", "token_perplexity", "bits_per_byte"};
    }
    return {};
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

std::vector<Metric> document_metrics(const Task& task, std::span<const Document> documents,
                                     std::span<const Score> scores) {
    const std::vector<DocumentScores> all = by_document(documents, scores);
    std::vector<Metric> metrics;
    for (const std::string& name : task.metrics) {
        if (name == "gold_bits_per_byte") {
            const auto bits = per_document(all, [](const DocumentScores& of) {
                const std::string& gold = of.document.choices[of.document.gold];
                return bits_per_byte(gold_log_likelihood(of), static_cast<std::int64_t>(gold.size()));
            });
            metrics.push_back(mean_metric(name, "bits/byte", "lower", bits, kNone));
        } else if (name == "perplexity") {
            metrics.push_back(mean_perplexity(name, all));
        } else if (task.kind == TaskKind::last_word) {
            const auto right = per_document(all, [](const DocumentScores& of) { return of.gold_greedy ? 1.0 : 0.0; });
            metrics.push_back(mean_metric(name, "", "higher", right, kNone));
        } else {
            metrics.push_back(choice_accuracy(name, task, all));
        }
    }
    return metrics;
}

std::vector<Metric> text_metrics(const Task& task, const TextTotals& totals) {
    std::vector<Metric> metrics;
    const auto add = [&](const std::string& name, const char* unit, double value) {
        metrics.push_back({name, unit, "lower", value, totals.texts, kNone, kNone});
    };
    for (const std::string& name : task.metrics) {
        if (name == "bits_per_byte") add(name, "bits/byte", bits_per_byte(totals.log_likelihood, totals.bytes));
        if (name == "word_perplexity") add(name, "", perplexity(totals.log_likelihood, totals.words));
        if (name == "byte_perplexity") add(name, "", perplexity(totals.log_likelihood, totals.bytes));
        if (name == "token_perplexity" && totals.tokens)
            add(name, "", perplexity(totals.log_likelihood, *totals.tokens));
    }
    return metrics;
}

}  // namespace deft::experiments
