#include "experiments/evaluation/evaluate.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/data/byte_tokenizer.h"
#include "experiments/datasets/embedded_corpus.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// sqrt(sum (x - m)^2 / (n - 1)) / sqrt(n)
double standard_error(const std::vector<double>& values) {
    const double n = static_cast<double>(values.size());
    if (values.size() < 2) return kUnknown;
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / n;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return std::sqrt(squares / (n - 1) / n);
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
}

journal::Evaluation record(std::int64_t step, const char* task, const char* metric, const char* unit,
                           const char* better, const std::vector<double>& values, double chance) {
    journal::Evaluation evaluation;
    evaluation.step = step;
    evaluation.task = task;
    evaluation.task_version = "1";
    evaluation.split = "test";
    evaluation.metric = metric;
    evaluation.unit = unit;
    evaluation.better = better;
    evaluation.value = mean_of(values);
    evaluation.n = static_cast<std::int64_t>(values.size());
    evaluation.standard_error = standard_error(values);
    evaluation.chance = chance;
    return evaluation;
}

// acc: the choice of the largest log-likelihood is gold, the first wins ties. Gold bits per byte: -ll / bytes / ln 2,
// the leading space not counted.
std::vector<journal::Evaluation> four_way(const TrialConfig& config, engine::Transformer& model, engine::Exec& exec,
                                          std::int64_t batch, std::int64_t step) {
    const auto questions =
        embedded_questions(static_cast<std::uint64_t>(config.data.embedded_seed), config.eval.documents);
    std::vector<Request> requests;
    for (const FourWayQuestion& question : questions)
        for (const std::string& choice : question.choices)
            requests.push_back({engine::encode_bytes(question.context), engine::encode_bytes(choice)});
    const std::vector<Score> scores = score(model, exec, requests, batch);
    std::vector<double> right, gold_bits;
    for (std::size_t q = 0; q < questions.size(); ++q) {
        const Score* of = scores.data() + 4 * q;
        std::size_t best = 0;
        for (std::size_t c = 1; c < 4; ++c)
            if (of[c].log_likelihood > of[best].log_likelihood) best = c;
        const auto gold = static_cast<std::size_t>(questions[q].gold);
        right.push_back(best == gold ? 1 : 0);
        gold_bits.push_back(-of[gold].log_likelihood / std::numbers::ln2 /
                            static_cast<double>(questions[q].choices[gold].size() - 1));
    }
    return {record(step, "embedded_questions", "acc", "", "higher", right, 0.25),
            record(step, "embedded_questions", "gold_bits_per_byte", "bits/byte", "lower", gold_bits, kUnknown)};
}

std::vector<journal::Evaluation> last_words(const TrialConfig& config, engine::Transformer& model, engine::Exec& exec,
                                            std::int64_t batch, std::int64_t step) {
    std::vector<Request> requests;
    for (const LastWordQuestion& question :
         embedded_last_words(static_cast<std::uint64_t>(config.data.embedded_seed), config.eval.documents))
        requests.push_back({engine::encode_bytes(question.context), engine::encode_bytes(question.word)});
    std::vector<double> right;
    for (const Score& s : score(model, exec, requests, batch)) right.push_back(s.greedy ? 1 : 0);
    return {record(step, "embedded_last_words", "acc", "", "higher", right, kUnknown)};
}

}  // namespace

std::vector<journal::Evaluation> evaluate(const TrialConfig& config, const Dataset& dataset, engine::Transformer& model,
                                          engine::Exec& exec, std::int64_t batch, std::int64_t step) {
    const CorpusLoss validation = corpus_loss(model, exec, dataset.valid, dataset.tokenizer, config.eval.validation_tokens, batch);
    std::vector<journal::Evaluation> all{
        record(step, "validation", "loss", "nats/token", "lower", {validation.loss}, kUnknown),
        record(step, "validation", "bits_per_byte", "bits/byte", "lower", {validation.bits_per_byte}, kUnknown)};
    for (journal::Evaluation& evaluation : all) {
        evaluation.split = "valid";
        evaluation.n = validation.tokens;
    }
    for (const std::string& task : config.eval.tasks) {
        const auto scores = task == "embedded_questions" ? four_way(config, model, exec, batch, step)
                                                         : last_words(config, model, exec, batch, step);
        all.insert(all.end(), scores.begin(), scores.end());
    }
    return all;
}

}  // namespace deft::experiments
