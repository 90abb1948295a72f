// Recomputation in the backward pass: the same bits from less memory.

#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft::engine;

namespace {

// Layers 1 to 3 drop tokens, each its own, or all three the same ones as one run.
std::vector<std::pair<std::string, TrainerConfig>> configurations() {
    TrainerConfig plain = tiny_config(5, 13, 6);
    plain.micro_batch_size = 4;
    TrainerConfig dropping = plain, run = plain;
    dropping.techniques.dropping = random_ltd(5, {4, 13, 1, 6, 1});
    run.techniques.dropping = bypass_on({1, 2, 3}, {4, 13, 1, 6, 1});
    return {{"plain", plain}, {"random-LTD", dropping}, {"token bypass", run}};
}

std::vector<float> weights_after(const TrainerConfig& config, const TokenCorpus& corpus, int threads) {
    Trainer trainer(config, corpus, threads);
    for (int i = 0; i < 6; ++i) trainer.step();
    return all_parameters<float>(trainer);
}

}  // namespace

TEST_CASE("what is computed again has the same bits, and takes less memory") {
    const TokenCorpus corpus = tiny_corpus(4000, 31);
    for (auto [name, config] : configurations()) {
        INFO(name);
        const auto kept = weights_after(config, corpus, 1);
        const std::int64_t all = plan_memory(config, Backend{}).bytes;
        config.recompute = Recompute::activation;
        CHECK(weights_after(config, corpus, 2) == kept);
        const std::int64_t without_outputs = plan_memory(config, Backend{}).bytes;
        config.recompute = Recompute::block;
        CHECK(weights_after(config, corpus, 1) == kept);
        CHECK(weights_after(config, corpus, 3) == kept);
        const std::int64_t inputs_alone = plan_memory(config, Backend{}).bytes;
        CHECK(without_outputs < all);
        CHECK(inputs_alone < without_outputs);
    }
}

TEST_CASE("what each way to compute again saves, by hand") {
    const auto bytes = [](Recompute recompute, std::int64_t layers) {
        TrainerConfig config = tiny_config(layers, 16, 2);
        config.model = gpt2_config(layers, 32, 2, 16, 31, 0.1);
        config.recompute = recompute;
        Arena arena;
        const Transformer model(arena, config.model, Backend{}, 2, Purpose::training, recompute);
        return arena.region_bytes(Region::activations);
    };
    const auto a_layer = [&](Recompute recompute) { return bytes(recompute, 5) - bytes(recompute, 4); };
    // 2 x 16 rows of width C = 32: the block's input and mid (2 C), qkv (3 C), attention (C), before the activation (4
    // C), lse of two heads, mean and rstd of two norms; outputs of the norms (2 C) and of the activation (4 C).
    constexpr std::int64_t rows = 2 * 16, C = 32;
    CHECK(a_layer(Recompute::none) == 4 * rows * (16 * C + 2 + 4));
    CHECK(a_layer(Recompute::activation) == 4 * rows * (10 * C + 2 + 4));
    CHECK(a_layer(Recompute::block) == 4 * rows * C);
}

TEST_CASE("a model planned for inference has the activations of one layer, and no gradients") {
    const auto plan = [](std::int64_t layers, Region region) {
        Arena arena;
        const Transformer model(arena, gpt2_config(layers, 32, 2, 16, 31, 0.1), Backend{}, 2, Purpose::inference);
        return arena.region_bytes(region);
    };
    CHECK(plan(9, Region::activations) == plan(2, Region::activations));
    for (const Region region : {Region::gradients, Region::optimizer}) CHECK(plan(3, region) == 0);
}
