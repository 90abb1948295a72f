#include "experiments/bench/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "engine/core/exec.h"
#include "engine/train/trainer.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

struct ScoringBench {
    engine::StepBench model;
    std::int64_t batches = 1, choices = 1;
};

class RandomText {
 public:
    explicit RandomText(const engine::TransformerConfig& model) : model_(model) {}

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

std::vector<Request> random_requests(const ScoringBench& bench) {
    const engine::TransformerConfig& model = bench.model.model;
    const std::int64_t choices = bench.choices;
    const std::int64_t questions = std::max<std::int64_t>(1, bench.batches * bench.model.batch_size / choices);
    RandomText random(model);
    const std::int64_t shortest = std::max<std::int64_t>(10, model.max_seqlen / 8);
    std::vector<Request> requests;
    for (std::int64_t i = 0; i < questions; ++i) {
        const std::int64_t length = shortest + random.below(model.max_seqlen + 1 - shortest);
        const std::int64_t scored = choices == 1 ? 1 + random.below(8) : length / 4;
        const std::vector<std::int32_t> context = random.tokens(length + 1 - scored);
        for (std::int64_t c = 0; c < choices; ++c) requests.push_back({context, random.tokens(scored)});
    }
    return requests;
}

// Full batches of a plain forward pass.
struct PlainBatches {
    std::int64_t count, B, T;
    std::vector<std::int32_t> token, target;  // (B, T)
};

PlainBatches plain_batches(const engine::StepBench& bench, std::int64_t tokens, double scored_share) {
    RandomText random(bench.model);
    PlainBatches plain{0, bench.batch_size, bench.model.max_seqlen, {}, {}};
    plain.count = (tokens + plain.B * plain.T - 1) / (plain.B * plain.T);
    plain.token = random.tokens(plain.B * plain.T);
    plain.target = random.tokens(plain.B * plain.T);
    const auto scored = static_cast<std::size_t>(scored_share * static_cast<double>(plain.target.size()));
    std::fill(plain.target.begin() + static_cast<std::ptrdiff_t>(scored), plain.target.end(), kernels::kIgnoreTarget);
    return plain;
}

// An untrained model, with what it needs.
struct Untrained {
    Untrained(const engine::StepBench& bench, int threads)
        : corpus(engine::random_corpus(bench)),
          trainer(engine::trainer_config_of(bench), corpus, {engine::Device::cpu, engine::DType::f32, threads}) {}

    engine::TokenCorpus corpus;
    engine::Trainer trainer;
};

// Tokens of requests, those that are scored, and those that choices share and are computed once.
struct RequestTokens {
    std::int64_t all = 0, scored = 0, computed = 0;
};

RequestTokens count_tokens(const ScoringBench& bench, const std::vector<Request>& requests) {
    const std::int64_t T = bench.model.model.max_seqlen;
    RequestTokens tokens;
    for (const ScoringBatch& batch : scoring_batches(requests, T, bench.model.batch_size * T)) {
        tokens.computed += static_cast<std::int64_t>(batch.computed.size());
        tokens.scored += static_cast<std::int64_t>(batch.scored.size());
    }
    for (const Request& request : requests)
        tokens.all += static_cast<std::int64_t>(request.context.size() + request.continuation.size()) - 1;
    return tokens;
}

PreparedBench prepared_for(std::int64_t tokens) {
    PreparedBench prepared;
    prepared.items = static_cast<double>(tokens);
    prepared.item = "token";
    return prepared;
}

// Right: the first requests have the same scores alone as among all the others.
PreparedBench prepare_scoring(const ScoringBench& bench, int threads) {
    const auto untrained = std::make_shared<Untrained>(bench.model, threads);
    const std::vector<Request> requests = random_requests(bench);
    const auto score_all = [untrained, requests, batch = bench.model.batch_size] {
        return score(untrained->trainer.model(), untrained->trainer.exec(), requests, batch);
    };
    const RequestTokens tokens = count_tokens(bench, requests);
    PreparedBench prepared = prepared_for(tokens.all);
    prepared.note = fmt::format("{:.1f}% of the tokens are computed",
                                100 * static_cast<double>(tokens.computed) / static_cast<double>(tokens.all));
    const std::vector<Score> scores = score_all();
    for (std::size_t i = 0; i < std::min<std::size_t>(2, requests.size()); ++i) {
        const Score alone =
            score(untrained->trainer.model(), untrained->trainer.exec(), std::span(&requests[i], 1), 1).front();
        if (!(std::abs(alone.log_likelihood - scores[i].log_likelihood) < 1e-3 * std::abs(alone.log_likelihood)))
            prepared.wrong = fmt::format("request {} has a log-likelihood of {:.6g}, and {:.6g} alone", i,
                                         scores[i].log_likelihood, alone.log_likelihood);
    }
    prepared.hot = score_all;
    return prepared;
}

// Right: an untrained model's loss on random tokens.
PreparedBench prepare_forward(const ScoringBench& bench, int threads) {
    const auto untrained = std::make_shared<Untrained>(bench.model, threads);
    const RequestTokens tokens = count_tokens(bench, random_requests(bench));
    const PlainBatches plain =
        plain_batches(bench.model, tokens.all, static_cast<double>(tokens.scored) / static_cast<double>(tokens.all));
    const auto forward = [untrained, plain] {
        engine::Transformer& model = untrained->trainer.model();
        engine::Exec& exec = untrained->trainer.exec();
        for (std::int64_t i = 0; i < plain.count; ++i) {
            model.load(exec, {plain.B, plain.T, plain.token.data(), plain.target.data()});
            model.evaluate(exec, plain.B, plain.T);
        }
    };
    forward();
    PreparedBench prepared = prepared_for(plain.count * plain.B * plain.T);
    const auto loss = engine::host_copy<float>(untrained->trainer.exec(),
                                               untrained->trainer.model().loss.view({plain.B, plain.T}));  // (B, T)
    double sum = 0, scored = 0;
    for (std::size_t i = 0; i < loss.size(); ++i) {
        if (plain.target[i] == kernels::kIgnoreTarget) continue;
        sum += static_cast<double>(loss[i]);
        ++scored;
    }
    const double expected = engine::expected_first_loss(bench.model.model);
    if (!(std::abs(sum / scored - expected) < 0.1 * expected))
        prepared.wrong = fmt::format("the loss is {:.3f}, where {:.3f} is right", sum / scored, expected);
    prepared.hot = forward;
    return prepared;
}

}  // namespace

std::vector<BenchCase> scoring_benches(const std::vector<engine::StepBench>& models, std::int64_t batches) {
    std::vector<BenchCase> benches;
    for (const engine::StepBench& model : models)
        for (const std::int64_t choices : {1, 4}) {
            const ScoringBench bench{model, batches, choices};
            const auto& m = model.model;
            const std::string name = fmt::format("{},{},{},{},{},{}/{}", m.layers(), m.width, m.heads(), m.vocab,
                                                 m.max_seqlen, model.batch_size, choices);
            const std::string forward = "scoring_forward/" + name;
            benches.push_back({"scoring/" + name, "cpu", 0, 0,
                               [=](int threads) { return prepare_scoring(bench, threads); }, false, forward});
            benches.push_back({forward, "cpu", 0, 0, [=](int threads) { return prepare_forward(bench, threads); }});
        }
    return benches;
}

}  // namespace deft::experiments
