#include "experiments/evaluation/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"

namespace deft::experiments {

ScoredRow scored_row(const Request& request, std::int64_t max_seqlen) {
    std::vector<std::int32_t> tokens = request.context;
    tokens.insert(tokens.end(), request.continuation.begin(), request.continuation.end());
    const auto limit = static_cast<std::size_t>(max_seqlen) + 1;
    if (request.continuation.size() >= limit || request.context.empty())
        throw Error(ErrorKind::config,
                    fmt::format("a continuation of {} tokens does not fit a model of length {} with a token of context",
                                request.continuation.size(), max_seqlen),
                    "raise model.seqlen or leave the task out of eval.tasks");
    if (tokens.size() > limit) tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(limit));
    ScoredRow row;
    row.input.assign(tokens.begin(), tokens.end() - 1);
    row.target.assign(row.input.size(), kernels::kIgnoreTarget);
    std::copy(request.continuation.begin(), request.continuation.end(),
              row.target.end() - static_cast<std::ptrdiff_t>(request.continuation.size()));
    return row;
}

namespace {

// Runs the rows of one batch and stores their scores.
void score_batch(engine::Transformer& model, engine::Exec& exec, const std::vector<ScoredRow>& rows,
                 std::span<const std::size_t> batch, std::vector<Score>& scores) {
    const std::size_t B = batch.size();
    std::size_t T = 0;
    for (const std::size_t row : batch) T = std::max(T, rows[row].input.size());
    auto* token = model.token.as<std::int32_t>();    // (B, T), padded on the right, which a causal model never sees
    auto* target = model.target.as<std::int32_t>();  // (B, T)
    const auto fill = [T](const std::vector<std::int32_t>& values, std::int32_t* out, std::int32_t padding) {
        std::fill_n(std::copy(values.begin(), values.end(), out), T - values.size(), padding);
    };
    for (std::size_t b = 0; b < B; ++b) {
        fill(rows[batch[b]].input, token + b * T, 0);
        fill(rows[batch[b]].target, target + b * T, kernels::kIgnoreTarget);
    }
    model.evaluate(exec, static_cast<std::int64_t>(B), static_cast<std::int64_t>(T));
    const auto* loss = model.loss.as<float>();             // (B, T)
    const auto* greedy = model.greedy.as<std::int32_t>();  // (B, T)
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t i = b * T; i < (b + 1) * T; ++i) {
            if (target[i] == kernels::kIgnoreTarget) continue;
            Score& result = scores[batch[b]];
            result.log_likelihood -= static_cast<double>(loss[i]);
            result.greedy = result.greedy && greedy[i] == 1;
        }
}

}  // namespace

std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch) {
    std::vector<ScoredRow> rows;
    for (const Request& request : requests) rows.push_back(scored_row(request, model.config().max_seqlen));
    // By length, so that a batch is padded little.
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].input.size() > rows[b].input.size(); });
    std::vector<Score> scores(rows.size());
    const auto B = static_cast<std::size_t>(batch);
    for (std::size_t first = 0; first < order.size(); first += B)
        score_batch(model, exec, rows, std::span(order).subspan(first, std::min(B, order.size() - first)), scores);
    return scores;
}

CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch) {
    const std::int64_t T = model.config().max_seqlen;
    const std::int64_t samples = std::min(corpus.samples(T), std::max<std::int64_t>(1, max_tokens / T));
    if (samples < 1)
        throw Error(ErrorKind::config, fmt::format("the validation text is shorter than one sample of {} tokens", T),
                    "supply more validation text or lower model.seqlen");
    double nats = 0;
    std::int64_t text_bytes = 0;
    std::vector<std::int64_t> seen(static_cast<std::size_t>(model.config().vocab), 0);  // (V), among the targets
    for (std::int64_t first = 0; first < samples; first += batch) {
        const std::int64_t B = std::min(batch, samples - first);
        auto* token = model.token.as<std::int32_t>();    // (B, T)
        auto* target = model.target.as<std::int32_t>();  // (B, T)
        for (std::int64_t b = 0; b < B; ++b)
            engine::copy_sample(corpus, first + b, T, T, token + b * T, target + b * T);
        model.evaluate(exec, B, T);
        const auto* loss = model.loss.as<float>();  // (B, T)
        for (std::int64_t i = 0; i < B * T; ++i) {
            nats += static_cast<double>(loss[i]);
            text_bytes += tokenizer.token_bytes(target[i]);
            ++seen[static_cast<std::size_t>(target[i])];
        }
    }
    CorpusLoss result;
    result.tokens = samples * T;
    for (const std::int64_t count : seen) {
        const double p = static_cast<double>(count) / static_cast<double>(result.tokens);
        if (count > 0) result.unigram_entropy -= p * std::log(p);
    }
    result.loss = nats / static_cast<double>(result.tokens);
    result.bits_per_byte = nats / std::numbers::ln2 / static_cast<double>(text_bytes);
    return result;
}

}  // namespace deft::experiments
