// Pacing, plans, schedules and counts against hand-computed values and the papers' published budgets.

#include <set>

#include "engine/data/permutation.h"
#include "engine/data_efficiency/sampling/sampler.h"
#include "engine/data_efficiency/techniques.h"
#include "engine/optim/learning_rate.h"
#include "engine/train/accounting.h"
#include "tests/catch.h"

using namespace deft::engine;
using deft::kernels::RandomPurpose;

TEST_CASE("linear pacing by hand") {
    const Pacing pacing{80, 2048, 8, 110'000, 1};
    CHECK(paced_value(pacing, 0) == 80);
    CHECK(paced_value(pacing, 1) == 80);
    CHECK(paced_value(pacing, 448) == 88);        // 80 + 1968 * 448 / 110000 = 88.015
    CHECK(paced_value(pacing, 55'000) == 1064);   // halfway: 1064, a multiple of 8
    CHECK(paced_value(pacing, 109'999) == 2040);  // 2047.98 rounded down to a multiple of 8
    CHECK(paced_value(pacing, 110'000) == 2048);
    CHECK(paced_value(pacing, 5'000'000) == 2048);
}

TEST_CASE("root pacing by hand") {
    const Pacing pacing{1, 100, 1, 100, 2};
    CHECK(paced_value(pacing, 25) == 50);  // floor(sqrt(0.25) * 99 + 1) = floor(50.5)
    CHECK(paced_value(pacing, 49) == 70);  // floor(0.7 * 99 + 1) = floor(70.3)
    CHECK(paced_value(pacing, 100) == 100);
    const Pacing cubic{0, 1000, 10, 1000, 3};
    CHECK(paced_value(cubic, 125) == 500);  // (1/8)^(1/3) = 0.5
}

TEST_CASE("step pacing climbs a stair of equal rises") {
    Pacing pacing{10, 50, 1, 12, 1, PacingKind::step, 4};
    // Rises of 10 at t = 3, 6, 9 and 12.
    const std::int64_t expected[] = {10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40, 50, 50};
    for (std::int64_t t = 0; t < 14; ++t) CHECK(paced_value(pacing, t) == expected[t]);
    // Stages that begin at the very step, although 29 / 100 x 100 is below 29 in binary.
    const Pacing fine{0, 100, 1, 100, 1, PacingKind::step, 100};
    for (std::int64_t t = 0; t <= 100; ++t) CHECK(paced_value(fine, t) == t);
    pacing.stages = 1;  // the least until the end
    CHECK(paced_value(pacing, 11) == 10);
    CHECK(paced_value(pacing, 12) == 50);
}

TEST_CASE("exponential pacing by hand") {
    const Pacing pacing{16, 256, 1, 4, 1, PacingKind::exponential};
    const std::int64_t expected[] = {16, 32, 64, 128, 256};
    for (std::int64_t t = 0; t < 5; ++t) CHECK(paced_value(pacing, t) == expected[t]);
}

TEST_CASE("discrete pacing holds a point's value, and points are joined by lines") {
    const std::vector<PacingPoint> points = {{0, 8}, {10, 20}, {20, 64}};
    Pacing held{8, 64, 1, 20}, joined{8, 64, 1, 20};
    held.kind = PacingKind::discrete;
    joined.kind = PacingKind::points;
    held.points = joined.points = points;
    CHECK(paced_value(held, 0) == 8);
    CHECK(paced_value(held, 9) == 8);
    CHECK(paced_value(held, 10) == 20);
    CHECK(paced_value(held, 19) == 20);
    CHECK(paced_value(held, 20) == 64);
    CHECK(paced_value(joined, 5) == 14);   // 8 + 12 / 2
    CHECK(paced_value(joined, 11) == 24);  // 20 + 44 / 10, cut off
    CHECK(paced_value(joined, 999) == 64);
    CHECK(problem_of_points(points).empty());
    CHECK(problem_of_points({}) == "holds no point");
    CHECK(problem_of_points({{1, 8}}) == "begins at step 1, not at 0");
    CHECK(problem_of_points({{0, 8}, {5, 7}}) == "falls from 8 to 7");
    CHECK(problem_of_points({{0, 8}, {0, 9}}) == "has two points at step 0 or goes back to it");
}

TEST_CASE("pacing is at its maximum from its duration on, whether a multiple or not, and at once without a duration") {
    Pacing pacing{10, 45, 8, 20, 1};
    for (const PacingKind kind : {PacingKind::root, PacingKind::step, PacingKind::exponential}) {
        pacing.kind = kind;
        pacing.duration = 20;
        CHECK(paced_value(pacing, 19) < 45);
        CHECK(paced_value(pacing, 20) == 45);
        CHECK(paced_value(pacing, 21) == 45);
        pacing.duration = 0;
        CHECK(paced_value(pacing, 0) == 45);
        CHECK(paced_value(pacing, 1) == 45);
    }
}

TEST_CASE("pacing never leaves its bounds") {
    const Pacing pacing{10, 45, 8, 20, 1};  // bounds that are no multiples of the step
    std::int64_t last = 0;
    for (std::int64_t t = 0; t < 40; ++t) {
        const std::int64_t value = paced_value(pacing, t);
        CHECK(value >= 10);
        CHECK(value <= 45);
        CHECK(value >= last);
        last = value;
    }
    CHECK(last == 45);
}

TEST_CASE("a step's plan: the curriculum's clock runs one ahead of random-LTD's") {
    Techniques techniques{Pacing{8, 64, 8, 7, 1}, random_ltd(4, Pacing{16, 64, 8, 6, 1})};
    const StepPlan first = plan_step({64, 4}, techniques, 0);
    CHECK(first.seqlen == 16);  // d(1) = 8 + 56 / 7
    CHECK(first.kept == 16);    // r(0) = 16, not below the length: nothing is dropped
    CHECK_FALSE(first.drops());
    CHECK(first.layer_tokens == 16);
    const StepPlan later = plan_step({64, 4}, techniques, 3);
    CHECK(later.seqlen == 40);  // d(4) = 8 + 32
    CHECK(later.kept == 40);    // r(3) = 16 + 24
    techniques.seqtru.reset();
    const StepPlan dropped = plan_step({64, 4}, techniques, 1);
    CHECK(dropped.seqlen == 64);
    CHECK(dropped.kept == 24);          // r(1) = 16 + 8
    CHECK(dropped.layer_tokens == 44);  // (64 * 2 + 24 * 2) / 4
}

TEST_CASE("layer tokens are rounded down, as the reference counts them") {
    const Techniques techniques{{}, random_ltd(3, Pacing{7, 7, 1, 0, 1})};
    CHECK(plan_step({10, 3}, techniques, 0).layer_tokens == 9);  // (10 * 2 + 7) / 3 = 9
}

TEST_CASE("padding counts as many layer-averaged tokens as its row does") {
    const ModelFlops flops = model_size(gpt2_config(4, 4, 2, 64, 10)).flops;
    Techniques techniques{{}, random_ltd(4, Pacing{8, 8, 1, 0, 1})};
    techniques.seqres = Pacing{40, 40, 1, 0, 1};
    const StepPlan plan = plan_step({64, 4}, techniques, 0);  // one sample of 64 in two rows of 40
    REQUIRE(plan.padding() == 16);
    REQUIRE(plan.layer_tokens == 24);  // (40 * 2 + 8 * 2) / 4
    Counts counts;
    advance(counts, flops, techniques, plan);
    CHECK(counts.layer_tokens == 38);  // 64 * 24 / 40 = 38.4
    CHECK(counts.input_tokens == 64);

    // Without dropping, the tokens themselves; with it fewer, and never none.
    for (std::int64_t length = 2; length <= 64; ++length)
        for (const std::int64_t batch : {1, 3}) {
            techniques.seqres = Pacing{length, length, 1, 0, 1};
            Counts dropping, whole;
            advance(dropping, flops, techniques, plan_step({64, 4}, techniques, 0, batch));
            CHECK(dropping.layer_tokens > 0);
            CHECK(dropping.layer_tokens <= 64 * batch);
            const Techniques plain{{}, {}, techniques.seqres};
            advance(whole, flops, plain, plan_step({64, 4}, plain, 0, batch));
            CHECK(whole.layer_tokens == 64 * batch);
        }
}

TEST_CASE("GPT-3 1.3B at 300 billion tokens takes the published numbers of steps") {
    const TransformerConfig model = gpt2_config(24, 2048, 16, 2048, 50257, 0.013);
    const Pacing seqtru{80, 2048, 8, 110'000, 1};
    const TokenDropping ltd = random_ltd(24, Pacing{128, 2048, 16, 200'000, 1});
    const auto steps = [&](const Techniques& techniques) {
        TrainerConfig config;
        config.model = model;
        config.techniques = techniques;
        config.batch_size = 512;
        config.budget_layer_tokens = 300'000'000'000;
        return run_schedule(config).steps;
    };
    CHECK(steps({}) == 286'103);
    CHECK(steps({seqtru, {}}) == 339'169);
    CHECK(steps({{}, ltd}) == 372'789);
    CHECK(steps({seqtru, ltd}) == 377'264);
}

TEST_CASE("parameters and FLOPs by hand") {
    const TransformerConfig model = gpt2_config(2, 4, 2, 8, 10, 0.02);
    // A layer: 12 * 16 weights + 13 * 4 biases and norms = 244; head 10 * 4, final norm 8, positions 8 * 4.
    CHECK(model_size(model).parameters == 2 * 244 + 40 + 8 + 32);
    const Techniques plain{{}, {}};
    // 6 * (2 * 244 + 48) * 8 + 2 layers * 12 * 4 * 8 * 8 / 2
    CHECK(sample_flops(model_size(model).flops, plain, plan_step({8, 2}, plain, 0)) ==
          6.0 * 536 * 8 + 2 * 12.0 * 4 * 64 / 2);
    const TransformerConfig deep = gpt2_config(3, 4, 2, 8, 10, 0.02);
    const Techniques ltd{{}, random_ltd(3, Pacing{4, 4, 1, 0, 1})};
    // Layers 0 and 2 with 8 tokens, layer 1 with 4.
    CHECK(sample_flops(model_size(deep).flops, ltd, plan_step({8, 3}, ltd, 0)) ==
          2 * (6.0 * 244 * 8 + 6.0 * 4 * 64) + (6.0 * 244 * 4 + 6.0 * 4 * 16) + 6.0 * 48 * 8);
}

TEST_CASE("learning rates by hand") {
    const LearningRate cosine{1.0, 0.1, 100, 1100, Decay::cosine};
    CHECK(learning_rate_at(cosine, 0, 0) == 0);
    CHECK(learning_rate_at(cosine, 0, 50) == Approx(0.5));
    CHECK(learning_rate_at(cosine, 0, 100) == Approx(1.0));
    CHECK(learning_rate_at(cosine, 0, 600) == Approx(0.55));                      // halfway: cos(pi / 2) = 0
    CHECK(learning_rate_at(cosine, 0, 350) == Approx(0.1 + 0.9 * 0.8535533906));  // (1 + cos(pi / 4)) / 2
    CHECK(learning_rate_at(cosine, 0, 1100) == Approx(0.1));
    CHECK(learning_rate_at(cosine, 0, 9999) == Approx(0.1));
    const LearningRate linear{2.0, 0.0, 0, 1000, Decay::linear};
    CHECK(learning_rate_at(linear, 0, 0) == Approx(2.0));
    CHECK(learning_rate_at(linear, 0, 250) == Approx(1.5));
    CHECK(learning_rate_at({3.0, 0, 10, 20, Decay::constant}, 0, 15) == Approx(3.0));
}

TEST_CASE("a warm-up in steps by hand") {
    // 4 steps, which took 100 tokens; then 1000 tokens of decay.
    const LearningRate rate{
        .max = 2.0, .min = 0.2, .warmup_tokens = 100, .decay_tokens = 1100, .decay = Decay::linear, .warmup_steps = 4};
    CHECK(learning_rate_at(rate, 0, 0) == 0);
    CHECK(learning_rate_at(rate, 1, 10) == 0.5);  // whatever the tokens of a step
    CHECK(learning_rate_at(rate, 3, 90) == 1.5);
    CHECK(learning_rate_at(rate, 4, 100) == 2.0);
    CHECK(learning_rate_at(rate, 9, 600) == Approx(1.1));
    CHECK(learning_rate_at(rate, 50, 1100) == Approx(0.2));
}

TEST_CASE("step decay by hand") {
    // The published ViT recipe: divided by 10 at each third. 100 tokens of warm-up, stages of 300.
    const LearningRate rate{.max = 5e-5, .warmup_tokens = 100, .decay_tokens = 1000, .decay = Decay::step};
    CHECK(learning_rate_at(rate, 0, 50) == Approx(2.5e-5));
    for (const std::int64_t tokens : {100, 399}) CHECK(learning_rate_at(rate, 0, tokens) == 5e-5);
    for (const std::int64_t tokens : {400, 699}) CHECK(learning_rate_at(rate, 0, tokens) == Approx(5e-6));
    for (const std::int64_t tokens : {700, 1000, 5000}) CHECK(learning_rate_at(rate, 0, tokens) == Approx(5e-7));
    const LearningRate halved{.max = 1, .decay_tokens = 7, .decay = Decay::step, .decay_factor = 2, .decay_stages = 2};
    CHECK(learning_rate_at(halved, 0, 3) == 1);  // the stages are of 3.5 tokens
    CHECK(learning_rate_at(halved, 0, 4) == 0.5);
    CHECK(learning_rate_at({.max = 1, .decay_tokens = 7, .decay = Decay::step, .decay_stages = 1}, 0, 6) == 1);
}

TEST_CASE("a stage of step decay begins at its token, however long the span") {
    for (const std::int64_t stages : {1, 2, 3, 7, 49, 1000})
        for (const std::int64_t span : {1, 5, 48, 49, 1000, 999'983})
            for (std::int64_t decayed = 0; decayed < span; decayed += span / 100 + 1) {
                INFO(stages << " stages of " << span << ", " << decayed);
                REQUIRE(decay_stage(stages, decayed, span) == stages * decayed / span);
            }
    constexpr std::int64_t kLong = std::int64_t{3} << 60;
    CHECK(decay_stage(3, kLong / 3 - 1, kLong) == 0);
    CHECK(decay_stage(3, kLong / 3, kLong) == 1);
    CHECK(decay_stage(3, kLong, kLong) == 2);
}

TEST_CASE("a warm-up in steps ends where the schedule has them, shorter steps and dropped tokens counted") {
    TrainerConfig config;
    config.model = gpt2_config(6, 24, 3, 64, 31, 0.1);
    config.batch_size = 2;
    config.budget_layer_tokens = 100'000;
    CHECK(layer_tokens_after(config, 5) == 5 * 2 * 64);
    config.techniques.seqtru = Pacing{8, 64, 8, 7, 1};  // at steps 1 to 5: 8 + 56 k / 7 = 16, 24, 32, 40, 48
    CHECK(layer_tokens_after(config, 5) == 2 * (16 + 24 + 32 + 40 + 48));
    config.techniques.dropping = TokenDropping{{32, 32, 1, 0, 1}, {1, 2, 3}, 0, &token_dropper("random_ltd"), {}};
    // Half of the layers keep 32 of 40 and 48 tokens: 36 and 40 on average.
    CHECK(layer_tokens_after(config, 5) == 2 * (16 + 24 + 32 + 36 + 40));
    CHECK(layer_tokens_after(config, 0) == 0);
    config.budget_layer_tokens = 130;
    CHECK(run_schedule(config).layer_tokens == 144);  // 32 + 48 + 64
    CHECK(layer_tokens_after(config, 1'000'000) == 144);
    config.budget_layer_tokens = 100'000;
    Counts counts;
    const ModelFlops flops = model_size(config.model).flops;
    while (counts.steps < 20) {
        CHECK(layer_tokens_after(config, counts.steps) == counts.layer_tokens);
        advance(counts, flops, config.techniques, plan_step(config, counts.steps));
    }
}

TEST_CASE("a keyed permutation is one, and another for every key") {
    for (const std::uint64_t n : {1u, 2u, 3u, 7u, 64u, 65u, 1000u}) {
        const Permutation p(n, 5, RandomPurpose::sample_order, 0);
        std::set<std::uint64_t> seen;
        for (std::uint64_t i = 0; i < n; ++i) {
            CHECK(p(i) < n);
            seen.insert(p(i));
        }
        CHECK(seen.size() == n);
    }
    const Permutation a(1000, 5, RandomPurpose::sample_order, 0), b(1000, 5, RandomPurpose::sample_order, 1),
        c(1000, 6, RandomPurpose::sample_order, 0), d(1000, 5, RandomPurpose::sample_order, std::uint64_t{1} << 32);
    int same_epoch = 0, same_seed = 0, same_high_word = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        same_epoch += a(i) == b(i);
        same_seed += a(i) == c(i);
        same_high_word += a(i) == d(i);
    }
    CHECK(same_epoch < 12);  // one in a thousand by chance
    CHECK(same_seed < 12);
    CHECK(same_high_word < 12);
}

TEST_CASE("the order of a permutation is spread evenly") {
    // Mean position of the first half of the images must be near the middle.
    const std::uint64_t n = 4096;
    const Permutation p(n, 9, RandomPurpose::sample_order, 3);
    double sum = 0;
    for (std::uint64_t i = 0; i < n / 2; ++i) sum += static_cast<double>(p(i));
    CHECK(sum / (n / 2) == Approx(n / 2).epsilon(0.04));  // standard deviation of the mean: 0.9% of it
}

TEST_CASE("the sampler repeats nothing within an epoch and is a function of the draw") {
    const Sampler sampler{11, 50};
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        std::set<std::int64_t> seen;
        for (std::int64_t i = 0; i < 50; ++i) seen.insert(sampler.sample_at(epoch * 50 + i));
        CHECK(seen.size() == 50);
    }
    CHECK(Sampler{11, 50}.sample_at(77) == sampler.sample_at(77));
}

TEST_CASE("unique tokens count the longest prefix of each sample once") {
    UniqueTokens unique(3);
    unique.see(0, 8);
    unique.see(1, 16);
    unique.see(0, 8);
    CHECK(unique.count() == 24);
    unique.see(0, 20);
    unique.see(1, 4);
    CHECK(unique.count() == 36);
}
