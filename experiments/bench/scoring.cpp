#include "experiments/bench/scoring.h"

#include <algorithm>
#include <vector>

#include "base/median.h"
#include "base/stopwatch.h"
#include "engine/train/trainer.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

namespace {

std::vector<Request> random_requests(const engine::TransformerConfig& model, std::int64_t count) {
    std::uint32_t draw = 0;
    const auto below = [&](std::int64_t limit) {
        const std::uint32_t word = kernels::philox_u32(1, kernels::RandomPurpose::tests, 0, 0, draw++, 0);
        return static_cast<std::int64_t>(word % static_cast<std::uint32_t>(limit));
    };
    const auto tokens = [&](std::int64_t n) {
        std::vector<std::int32_t> drawn(static_cast<std::size_t>(n));
        for (std::int32_t& token : drawn) token = static_cast<std::int32_t>(below(model.vocab));
        return drawn;
    };
    const std::int64_t shortest = std::max<std::int64_t>(10, model.max_seqlen / 8);
    std::vector<Request> requests;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t scored = 1 + below(8), length = shortest + below(model.max_seqlen + 1 - shortest);
        requests.push_back({tokens(length + 1 - scored), tokens(scored)});
    }
    return requests;
}

}  // namespace

ScoringTimes time_scoring(const engine::StepBench& bench, const engine::Backend& backend, std::int64_t requests,
                          int rounds) {
    const engine::TokenCorpus corpus = engine::random_corpus(bench);
    engine::Trainer trainer(engine::trainer_config_of(bench), corpus, backend);
    engine::Transformer& model = trainer.model();
    engine::Exec& exec = trainer.exec();
    const std::vector<Request> asked = random_requests(bench.model, requests);
    const std::vector<ScoringBatch> batches = scoring_batches(asked, bench.model.max_seqlen, bench.batch_size);

    ScoringTimes times;
    for (const Request& request : asked)
        times.tokens += static_cast<std::int64_t>(request.context.size() + request.continuation.size()) - 1;
    for (const ScoringBatch& batch : batches) times.padding += batch.rows() * batch.length;
    times.padding -= times.tokens;

    const auto forward_alone = [&] {
        for (const ScoringBatch& batch : batches) {
            model.load(exec, batch.rows(), batch.length, batch.token.data(), batch.target.data());
            model.evaluate(exec, batch.rows(), batch.length);
        }
    };
    const auto scoring = [&] { score(model, exec, asked, bench.batch_size); };
    const auto time = [](const auto& run) {
        const Clock::time_point start = Clock::now();
        run();
        return seconds_since(start);
    };
    forward_alone();
    std::vector<double> forwards, scorings, ratios;
    for (int round = 0; round < rounds; ++round) {
        const bool forward_first = round % 2 == 0;
        if (forward_first) forwards.push_back(time(forward_alone));
        scorings.push_back(time(scoring));
        if (!forward_first) forwards.push_back(time(forward_alone));
        ratios.push_back(scorings.back() / forwards.back());
    }
    times.forward_seconds = median(forwards);
    times.scoring_seconds = median(scorings);
    times.ratio = median(ratios);
    return times;
}

}  // namespace deft::experiments
