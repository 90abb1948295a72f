// Which layers drop tokens, how many tokens they keep, and what that costs: by hand.

#include "engine/train/accounting.h"
#include "tests/catch.h"

using namespace deft::engine;

TEST_CASE("the layers that drop tokens unless others are named") {
    const auto random_ltd_layers = token_dropper("random_ltd").default_layers;
    const auto bypass_layers = token_dropper("token_bypass").default_layers;
    CHECK(random_ltd_layers(4) == std::vector<std::int32_t>{1, 2});
    CHECK(random_ltd_layers(24) == layer_range(1, 22));
    CHECK(random_ltd_layers(2).empty());
    CHECK(bypass_layers(3) == std::vector<std::int32_t>{1});
    CHECK(bypass_layers(4) == std::vector<std::int32_t>{1, 2});
    CHECK(bypass_layers(5) == std::vector<std::int32_t>{1, 2});
    CHECK(bypass_layers(12) == layer_range(3, 8));
    CHECK(bypass_layers(24) == layer_range(6, 17));
}

TEST_CASE("kept tokens by hand: linear, root and constant") {
    const auto kept = [](const Pacing& pacing, std::int64_t step) {
        return plan_step({64, 6}, {{}, random_ltd(6, pacing)}, step).kept;
    };
    const Pacing linear{16, 64, 8, 100, 1}, root{16, 64, 8, 100, 2}, constant{24, 24, 8, 0, 1};
    CHECK(kept(linear, 0) == 16);
    CHECK(kept(linear, 50) == 40);
    CHECK(kept(linear, 99) == 56);  // 63.52, a multiple of 8
    CHECK(kept(linear, 100) == 64);
    CHECK(kept(root, 25) == 40);  // 16 + sqrt(1/4) 48
    CHECK(kept(root, 9) == 24);   // 16 + 0.3 * 48 = 30.4
    for (const std::int64_t step : {0, 7, 1000}) CHECK(kept(constant, step) == 24);
}

TEST_CASE("layer tokens and FLOPs count the layers that really drop tokens") {
    const Pacing four{4, 4, 1, 0, 1};
    const TransformerConfig model = gpt2_config(6, 4, 2, 10, 10, 0.02);
    const Techniques some{{}, TokenDropping{four, {1, 2, 5}, 0, &token_dropper("random_ltd"), {}}};
    const StepPlan plan = plan_step({10, 6}, some, 0);
    CHECK(plan.layer_tokens == 7);  // (10 * 3 + 4 * 3) / 6
    // A layer of n tokens: 6 * 244 n + 6 * 4 n n; the head: 6 * 48 * 10.
    const double full = 6.0 * 244 * 10 + 6.0 * 4 * 100, short_layer = 6.0 * 244 * 4 + 6.0 * 4 * 16;
    CHECK(sample_flops(model_size(model).flops, some, plan) == 3 * full + 3 * short_layer + 6.0 * 48 * 10);
    const Techniques half{{}, token_dropping("token_bypass", 6, four)};
    CHECK(sample_flops(model_size(model).flops, half, plan_step({10, 6}, half, 0)) ==
          sample_flops(model_size(model).flops, some, plan));
    // Attention that is not causal is twice the work.
    TransformerConfig both_ways = gpt2_config(6, 4, 2, 10, 10, 0.02);
    for (BlockConfig& block : both_ways.blocks) block.attention.causal = false;
    CHECK(sample_flops(model_size(both_ways).flops, some, plan) ==
          sample_flops(model_size(model).flops, some, plan) + 3 * 6.0 * 4 * (100 + 16));
    // In all layers.
    const Techniques all{{}, TokenDropping{four, layer_range(0, 5), 0, &token_dropper("random_ltd"), {}}};
    CHECK(plan_step({10, 6}, all, 0).layer_tokens == 4);
}
