#include "experiments/bench/scoring.h"

#include <algorithm>
#include <vector>

#include "base/median.h"
#include "base/stopwatch.h"
#include "engine/train/trainer.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

namespace {

class Draws {
 public:
    explicit Draws(const engine::TransformerConfig& model) : model_(model) {}

    std::int64_t below(std::int64_t limit) {
        const std::uint32_t word = kernels::philox_u32(1, kernels::RandomPurpose::tests, 0, 0, draw_++, 0);
        return static_cast<std::int64_t>(word % static_cast<std::uint32_t>(limit));
    }
    std::vector<std::int32_t> tokens(std::int64_t n) {
        std::vector<std::int32_t> drawn(static_cast<std::size_t>(n));
        for (std::int32_t& token : drawn) token = static_cast<std::int32_t>(below(model_.vocab));
        return drawn;
    }

 private:
    const engine::TransformerConfig& model_;
    std::uint32_t draw_ = 0;
};

std::vector<Request> random_requests(const engine::TransformerConfig& model, std::int64_t questions,
                                     std::int64_t choices) {
    Draws draws(model);
    const std::int64_t shortest = std::max<std::int64_t>(10, model.max_seqlen / 8);
    std::vector<Request> requests;
    for (std::int64_t i = 0; i < questions; ++i) {
        const std::int64_t length = shortest + draws.below(model.max_seqlen + 1 - shortest);
        const std::int64_t scored = choices == 1 ? 1 + draws.below(8) : length / 4;
        const std::vector<std::int32_t> context = draws.tokens(length + 1 - scored);
        for (std::int64_t c = 0; c < choices; ++c) requests.push_back({context, draws.tokens(scored)});
    }
    return requests;
}

// Full batches of a plain forward pass.
struct PlainBatches {
    std::int64_t count, B, T;
    std::vector<std::int32_t> token, target;  // (B, T)
};

PlainBatches plain_batches(const engine::StepBench& bench, std::int64_t tokens, double scored_share) {
    Draws draws(bench.model);
    PlainBatches plain{0, bench.batch_size, bench.model.max_seqlen, {}, {}};
    plain.count = (tokens + plain.B * plain.T - 1) / (plain.B * plain.T);
    plain.token = draws.tokens(plain.B * plain.T);
    plain.target = draws.tokens(plain.B * plain.T);
    const auto scored = static_cast<std::size_t>(scored_share * static_cast<double>(plain.target.size()));
    std::fill(plain.target.begin() + static_cast<std::ptrdiff_t>(scored), plain.target.end(), kernels::kIgnoreTarget);
    return plain;
}

}  // namespace

ScoringTimes time_scoring(const engine::StepBench& bench, const engine::Backend& backend, std::int64_t questions,
                          std::int64_t choices, int rounds) {
    const engine::TokenCorpus corpus = engine::random_corpus(bench);
    engine::Trainer trainer(engine::trainer_config_of(bench), corpus, backend);
    engine::Transformer& model = trainer.model();
    engine::Exec& exec = trainer.exec();
    const std::vector<Request> requests = random_requests(bench.model, questions, choices);

    ScoringTimes times;
    std::size_t scored = 0;
    for (const ScoringBatch& batch :
         scoring_batches(requests, bench.model.max_seqlen, bench.batch_size * bench.model.max_seqlen)) {
        times.computed += static_cast<std::int64_t>(batch.computed.size());
        scored += batch.scored.size();
    }
    for (const Request& request : requests)
        times.tokens += static_cast<std::int64_t>(request.context.size() + request.continuation.size()) - 1;
    const PlainBatches plain =
        plain_batches(bench, times.tokens, static_cast<double>(scored) / static_cast<double>(times.tokens));
    times.forward_tokens = plain.count * plain.B * plain.T;

    const auto forward_alone = [&] {
        for (std::int64_t i = 0; i < plain.count; ++i) {
            model.load(exec, plain.B, plain.T, plain.token.data(), plain.target.data());
            model.evaluate(exec, plain.B, plain.T);
        }
    };
    const auto scoring = [&] { score(model, exec, requests, bench.batch_size); };
    const auto time = [](const auto& run) {
        const Clock::time_point start = Clock::now();
        run();
        return seconds_since(start);
    };
    forward_alone();
    const double tokens_ratio = static_cast<double>(times.tokens) / static_cast<double>(times.forward_tokens);
    std::vector<double> forwards, scorings, ratios;
    for (int round = 0; round < rounds; ++round) {
        const bool forward_first = round % 2 == 0;
        if (forward_first) forwards.push_back(time(forward_alone));
        scorings.push_back(time(scoring));
        if (!forward_first) forwards.push_back(time(forward_alone));
        ratios.push_back(tokens_ratio * forwards.back() / scorings.back());
    }
    times.forward_seconds = median(forwards);
    times.scoring_seconds = median(scorings);
    times.ratio = median(ratios);
    return times;
}

}  // namespace deft::experiments
