#include "experiments/evaluation/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "base/error.h"

namespace deft::experiments {

namespace {

// Inputs and targets of one request, cut to the model's length; targets outside the continuation are ignored.
struct Row {
    std::vector<std::int32_t> input, target;
};

Row make_row(const Request& request, std::int64_t max_seqlen) {
    std::vector<std::int32_t> tokens = request.context;
    tokens.insert(tokens.end(), request.continuation.begin(), request.continuation.end());
    const auto limit = static_cast<std::size_t>(max_seqlen) + 1;
    if (request.continuation.size() >= limit || request.context.empty())
        throw Error(ErrorKind::config,
                    fmt::format("a continuation of {} tokens does not fit a model of length {} with a token of context",
                                request.continuation.size(), max_seqlen),
                    "raise model.seqlen or leave the task out of eval.tasks");
    if (tokens.size() > limit) tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(limit));
    Row row;
    row.input.assign(tokens.begin(), tokens.end() - 1);
    row.target.assign(row.input.size(), kernels::kIgnoreTarget);
    std::copy(request.continuation.begin(), request.continuation.end(),
              row.target.end() - static_cast<std::ptrdiff_t>(request.continuation.size()));
    return row;
}

}  // namespace

std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch) {
    std::vector<Score> scores;
    for (std::size_t first = 0; first < requests.size(); first += static_cast<std::size_t>(batch)) {
        const std::size_t B = std::min(static_cast<std::size_t>(batch), requests.size() - first);
        std::vector<Row> rows;
        std::size_t T = 0;
        for (std::size_t b = 0; b < B; ++b) {
            rows.push_back(make_row(requests[first + b], model.config().max_seqlen));
            T = std::max(T, rows.back().input.size());
        }
        auto* token = model.token.as<std::int32_t>();    // (B, T), padded on the right, which a causal model never sees
        auto* target = model.target.as<std::int32_t>();  // (B, T)
        for (std::size_t b = 0; b < B; ++b) {
            std::fill_n(std::copy(rows[b].input.begin(), rows[b].input.end(), token + b * T), T - rows[b].input.size(),
                        0);
            std::fill_n(std::copy(rows[b].target.begin(), rows[b].target.end(), target + b * T),
                        T - rows[b].target.size(), kernels::kIgnoreTarget);
        }
        model.evaluate(exec, static_cast<std::int64_t>(B), static_cast<std::int64_t>(T));
        const auto* loss = model.loss.as<float>();             // (B, T)
        const auto* greedy = model.greedy.as<std::int32_t>();  // (B, T)
        for (std::size_t b = 0; b < B; ++b) {
            Score result;
            for (std::size_t t = 0; t < T; ++t) {
                if (target[b * T + t] == kernels::kIgnoreTarget) continue;
                result.log_likelihood -= static_cast<double>(loss[b * T + t]);
                result.greedy = result.greedy && greedy[b * T + t] == 1;
            }
            scores.push_back(result);
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
        }
    }
    CorpusLoss result;
    result.tokens = samples * T;
    result.loss = nats / static_cast<double>(result.tokens);
    result.bits_per_byte = nats / std::numbers::ln2 / static_cast<double>(text_bytes);
    return result;
}

}  // namespace deft::experiments
