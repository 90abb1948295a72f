// Planned memory of ranks that train a trial together, by hand.

#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;

namespace {

constexpr std::int64_t kWidth = 16, kLength = 16;

// Three layers of width 16, so that no weight is padded.
TrialConfig ranks_trial(const std::string& train, const std::string& model = "") {
    return test::resolved_trial(
        "data = { corpus = \"embedded\" }\n"
        "model = { layers = 3, width = 16, heads = 2, seqlen = 16" +
        model +
        " }\n"
        "train = { batch_size = 12, micro_batch_size = 3, budget_tokens = 1280" +
        train + " }\n");
}

PlannedBytes planned_by_ranks(const TrialConfig& config, int ranks) {
    return planned_bytes(config, engine::Device::cpu, ranks);
}

}  // namespace

TEST_CASE("ranks that share nothing plan as much as one alone, each") {
    const TrialConfig config = ranks_trial("");
    const PlannedBytes alone = planned_by_ranks(config, 1), three = planned_by_ranks(config, 3);
    CHECK(alone.all == alone.largest);
    CHECK(alone.largest == project(config).memory_bytes);
    CHECK(three.largest == alone.largest);
    CHECK(three.all == 3 * alone.largest);
    const PlannedBytes scoring = planned_scoring_bytes(config, engine::Device::cpu, 3);
    CHECK(scoring.largest < alone.largest / 2);
    CHECK(scoring.all == 3 * scoring.largest);
}

TEST_CASE("an imported model is held by one rank, whatever the number of them") {
    TrialConfig config = ranks_trial("");
    config.train.budget_tokens = 0;
    config.start.emplace().from = "elsewhere";
    REQUIRE(is_imported(config));
    CHECK(planned_by_ranks(config, 3).all == planned_scoring_bytes(config, engine::Device::cpu).all);
}

TEST_CASE("ranks that share moments plan fewer of them by hand") {
    const TrialConfig plain = ranks_trial(""), zero = ranks_trial(", zero = 1");
    const std::int64_t vocab = trainer_config(plain).model.vocab;
    const std::int64_t decayed = (vocab + kLength) * kWidth + 3 * 12 * kWidth * kWidth,
                       others = 2 * kWidth + 3 * 13 * kWidth;
    CHECK(planned_by_ranks(zero, 1).largest == planned_by_ranks(plain, 1).largest);
    for (const int ranks : {2, 3, 5}) {
        const auto up = [&](std::int64_t count) { return (count + ranks - 1) / ranks; };
        // Two moments of f32, in buffers of a multiple of 16 elements, together of 256 bytes.
        const std::int64_t own = (up(decayed) + up(others) + 15) / 16 * 16;
        const PlannedBytes planned = planned_by_ranks(zero, ranks);
        CHECK(planned.largest ==
              planned_by_ranks(plain, 1).largest - 8 * (decayed + others) + (8 * own + 255) / 256 * 256);
        CHECK(planned.all == ranks * planned.largest);
        std::int64_t sum = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            const std::int64_t bytes = engine::plan_memory(trainer_config(zero), {}, {rank, ranks}).bytes;
            CHECK(bytes <= planned.largest);
            sum += bytes;
        }
        CHECK(planned.all - sum <= ranks * 256);
    }
}

TEST_CASE("ranks that divide experts plan fewer of them by hand, and ranks that cannot are refused") {
    constexpr const char* kExperts = ", experts = { count = 4, top = 2, capacity_factor = 0.0, layers = [1] }";
    const TrialConfig divided = ranks_trial(", expert_ranks = 2", kExperts);
    const std::int64_t experts = 4 * (8 * kWidth * kWidth + 5 * kWidth);
    const auto weights = [&](int expert_ranks) {
        engine::TrainerConfig trainer = trainer_config(divided);
        trainer.expert_ranks = expert_ranks;
        const engine::MemoryPlan plan = engine::plan_memory(trainer, {}, {1, 2});
        std::int64_t bytes = 0;
        for (const engine::Region region :
             {engine::Region::parameters, engine::Region::gradients, engine::Region::optimizer})
            bytes += plan.region_bytes[static_cast<std::size_t>(region)];
        return bytes;
    };
    // A weight, its gradient and two moments of each.
    CHECK(weights(1) - weights(2) == 4 * 4 * experts / 2);
    CHECK(planned_by_ranks(divided, 2).largest == engine::plan_memory(trainer_config(divided), {}, {1, 2}).bytes);
    CHECK(planned_by_ranks(divided, 2).all == 2 * planned_by_ranks(divided, 2).largest);
    CHECK_THAT(test::refusal([&] { planned_by_ranks(divided, 3); }),
               ContainsSubstring("train.expert_ranks = 2 does not divide 3 ranks"));
}

TEST_CASE("a schedule says how much larger its steps may become") {
    CHECK(project(ranks_trial("")).growth == 1);
    const TrialConfig growing = test::resolved_trial(
        "data = { corpus = \"embedded\" }\nmodel = { layers = 3, width = 16, heads = 2, seqlen = 16 }\n"
        "train = { batch_size = 4, budget_tokens = 4096 }\n"
        "curriculum = { seqtru = { min = 4, difficulty_step = 4, duration = 0.5 } }\n");
    CHECK(project(growing).growth == 4);
}
