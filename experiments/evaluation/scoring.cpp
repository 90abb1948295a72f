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

ScoringBatch padded_batch(const std::vector<ScoredRow>& rows, std::span<const std::size_t> members) {
    ScoringBatch batch;
    batch.request.assign(members.begin(), members.end());
    std::size_t T = 0;
    for (const std::size_t row : members) T = std::max(T, rows[row].input.size());
    batch.length = static_cast<std::int64_t>(T);
    batch.token.assign(members.size() * T, 0);
    batch.target.assign(members.size() * T, kernels::kIgnoreTarget);
    for (std::size_t b = 0; b < members.size(); ++b) {
        std::copy(rows[members[b]].input.begin(), rows[members[b]].input.end(), &batch.token[b * T]);
        std::copy(rows[members[b]].target.begin(), rows[members[b]].target.end(), &batch.target[b * T]);
    }
    return batch;
}

}  // namespace

std::vector<ScoringBatch> scoring_batches(std::span<const Request> requests, std::int64_t max_seqlen,
                                          std::int64_t batch) {
    std::vector<ScoredRow> rows;
    for (const Request& request : requests) rows.push_back(scored_row(request, max_seqlen));
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].input.size() > rows[b].input.size(); });
    std::vector<ScoringBatch> batches;
    const auto B = static_cast<std::size_t>(batch);
    for (std::size_t first = 0; first < order.size(); first += B)
        batches.push_back(padded_batch(rows, std::span(order).subspan(first, std::min(B, order.size() - first))));
    return batches;
}

std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch) {
    std::vector<Score> scores(requests.size());
    for (const ScoringBatch& rows : scoring_batches(requests, model.config().max_seqlen, batch)) {
        const std::int64_t B = rows.rows(), T = rows.length;
        model.load(exec, B, T, rows.token.data(), rows.target.data());
        model.evaluate(exec, B, T);
        const auto loss = engine::host_copy<float>(exec, model.loss.view({B, T}));             // (B, T)
        const auto greedy = engine::host_copy<std::int32_t>(exec, model.greedy.view({B, T}));  // (B, T)
        for (std::size_t i = 0; i < rows.target.size(); ++i) {
            if (rows.target[i] == kernels::kIgnoreTarget) continue;
            Score& result = scores[rows.request[i / static_cast<std::size_t>(T)]];
            result.log_likelihood -= static_cast<double>(loss[i]);
            result.greedy = result.greedy && greedy[i] == 1;
        }
    }
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
