#include "experiments/evaluation/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "engine/core/copies.h"

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
    std::vector<std::int32_t> token(B * T, 0);  // (B, T), padded on the right, which a causal model never sees
    std::vector<std::int32_t> target(B * T, kernels::kIgnoreTarget);  // (B, T)
    for (std::size_t b = 0; b < B; ++b) {
        std::copy(rows[batch[b]].input.begin(), rows[batch[b]].input.end(), &token[b * T]);
        std::copy(rows[batch[b]].target.begin(), rows[batch[b]].target.end(), &target[b * T]);
    }
    const auto rows_in = static_cast<std::int64_t>(B), length = static_cast<std::int64_t>(T);
    model.load(exec, rows_in, length, token.data(), target.data());
    model.evaluate(exec, rows_in, length);
    const auto loss = engine::host_copy<float>(exec, model.loss.view({rows_in, length}));             // (B, T)
    const auto greedy = engine::host_copy<std::int32_t>(exec, model.greedy.view({rows_in, length}));  // (B, T)
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
        std::vector<std::int32_t> token(static_cast<std::size_t>(B * T)), target(token.size());  // (B, T)
        for (std::int64_t b = 0; b < B; ++b)
            engine::copy_sample(corpus, first + b, T, T, token.data() + b * T, target.data() + b * T);
        model.load(exec, B, T, token.data(), target.data());
        model.evaluate(exec, B, T);
        const auto loss = engine::host_copy<float>(exec, model.loss.view({B, T}));  // (B, T)
        for (std::size_t i = 0; i < target.size(); ++i) {
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
