#include "experiments/evaluation/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "engine/core/copies.h"

namespace deft::experiments {

std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch, const BetweenBatches& between_batches) {
    std::vector<Score> scores(requests.size());
    const std::int64_t T = model.config().max_seqlen;
    for (const ScoringBatch& rows : scoring_batches(requests, T, batch * T)) {
        model.evaluate(exec, rows.samples());
        const auto R = static_cast<std::int64_t>(rows.target.size());
        const auto loss = engine::host_copy<float>(exec, model.loss.view({R}));             // (R)
        const auto greedy = engine::host_copy<std::int32_t>(exec, model.greedy.view({R}));  // (R)
        for (std::size_t i = 0; i < rows.target.size(); ++i) {
            Score& result = scores[rows.request[i]];
            result.log_likelihood -= static_cast<double>(loss[i]);
            result.greedy = result.greedy && greedy[i] == 1;
        }
        if (between_batches) between_batches();
    }
    return scores;
}

CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch,
                       const BetweenBatches& between_batches) {
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
        if (between_batches) between_batches();
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
