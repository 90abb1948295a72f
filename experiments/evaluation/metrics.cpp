#include "experiments/evaluation/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include "base/utf8.h"
#include "experiments/evaluation/answers.h"

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

Metric mean_metric(const std::string& name, const char* unit, const char* better, const std::vector<double>& values,
                   double chance) {
    return {name, unit, better, mean(values), static_cast<std::int64_t>(values.size()), standard_error(values), chance};
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

Metric accuracy(const std::string& name, const Task& task, const std::vector<Scored>& all) {
    const auto right = per_document(
        all, [&](const Scored& of) { return outcome(task, name, of.document, of.scores).right ? 1.0 : 0.0; });
    const bool guessable = task.kind == TaskKind::multiple_choice;
    const auto chances = per_document(all, [](const Scored& of) { return chance_of_right(of.document); });
    return mean_metric(name, "", "higher", right, guessable ? mean(chances) : kNone);
}

// A group counts where every document of it is right.
Metric group_accuracy(const std::string& name, const Task& task, const std::vector<Scored>& all) {
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
    return mean_metric(name, "", "higher", right, mean(chances));
}

// Metrics em and f1.
Metric answer_metric(const std::string& name, const Task& task, const std::vector<Scored>& all) {
    const auto value = [&](const Document& document, std::size_t choice) {
        const std::string& answer = document.choice_answers[choice];
        return name == "em" ? exact_match(answer, document.answers) : answer_f1(answer, document.answers);
    };
    const auto values = per_document(
        all, [&](const Scored& of) { return value(of.document, outcome(task, name, of.document, of.scores).chosen); });
    const auto chances = per_document(all, [&](const Scored& of) {
        return chance_of(of.document, [&](std::size_t choice) { return value(of.document, choice); });
    });
    return mean_metric(name, "", "higher", values, mean(chances));
}

// exp(-m) with m the mean log-likelihood; its standard error is that of m times the derivative, exp(-m).
Metric mean_perplexity(const std::string& name, const std::vector<Scored>& all) {
    const auto values = per_document(all, [](const Scored& of) { return of.gold_log_likelihood(); });
    const double value = std::exp(-mean(values));
    return {name, "", "lower", value, static_cast<std::int64_t>(values.size()), value * standard_error(values), kNone};
}

}  // namespace

std::vector<const char*> metric_names(TaskKind kind) {
    switch (kind) {
        case TaskKind::multiple_choice:
            return {"acc", "acc_norm", "acc_bytes", "acc_all", "em", "f1", "gold_bits_per_byte"};
        case TaskKind::short_answer:
            return {"acc", "gold_bits_per_byte"};
        case TaskKind::last_word:
            return {"acc", "perplexity", "gold_bits_per_byte"};
        case TaskKind::perplexity:
            return {"word_perplexity", "byte_perplexity", "token_perplexity", "bits_per_byte"};
        case TaskKind::classification:
            return {"acc", "mcc", "f1"};
        case TaskKind::generation:
            return {"ms_per_token", "tokens_per_second"};
        case TaskKind::regression:
            return {"pearson", "spearman"};
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

std::vector<Metric> document_metrics(const Task& task, std::span<const Document> documents,
                                     std::span<const Score> scores) {
    const std::vector<Scored> all = by_document(documents, scores);
    std::vector<Metric> metrics;
    for (const std::string& name : task.metrics) {
        if (name == "gold_bits_per_byte") {
            const auto bits = per_document(all, [](const Scored& of) {
                const std::string& gold = of.document.choices[of.document.gold];
                return bits_per_byte(of.gold_log_likelihood(), static_cast<std::int64_t>(gold.size()));
            });
            metrics.push_back(mean_metric(name, "bits/byte", "lower", bits, kNone));
        } else if (name == "perplexity") {
            metrics.push_back(mean_perplexity(name, all));
        } else if (name == "acc_all") {
            metrics.push_back(group_accuracy(name, task, all));
        } else if (name == "em" || name == "f1") {
            metrics.push_back(answer_metric(name, task, all));
        } else {
            metrics.push_back(accuracy(name, task, all));
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
