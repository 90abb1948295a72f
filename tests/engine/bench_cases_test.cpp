// Benchmark cases of the engine: right, and repeatable.

#include "engine/bench/cases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "engine/bench/layers.h"
#include "engine/bench/step.h"
#include "tests/catch.h"
#include "tests/engine/small_vit.h"

using namespace deft;
using namespace deft::engine;

TEST_CASE("tokenizers, corpora, analyzer and sampler are benchmark cases that check themselves", "[slow]") {
    std::set<std::string> names, beside;
    for (const kernels::BenchCase& bench : engine_benches(5)) {
        INFO(bench.name);
        CHECK(names.insert(bench.name).second);
        if (!bench.beside.empty()) beside.insert(bench.beside);
        const kernels::PreparedBench prepared = bench.prepare(2);
        CHECK(prepared.wrong == "");
        CHECK(prepared.items > 0);
        CHECK(prepared.bytes == bench.bytes);
        prepared.hot();
        prepared.hot();
        if (prepared.cold) prepared.cold();
    }
    CHECK(names.size() == 11);
    CHECK(beside.size() == 1);
    for (const std::string& name : beside) CHECK(names.count(name) == 1);
}

TEST_CASE("the arms of a step: half the tokens in the inner layers, or half of every sample") {
    const StepBench bench{gpt2_config(4, 32, 2, 16, 64), 2};
    const std::vector<StepArm> arms = step_arms(bench);
    REQUIRE(arms.size() == 3);
    const TokenCorpus corpus = random_corpus(bench);
    std::vector<double> flops;
    for (const StepArm& arm : arms) {
        INFO(arm.name);
        Trainer trainer(arm.config, corpus, 1);
        const StepResult result = trainer.step();
        CHECK(result.loss == Approx(expected_first_loss(bench.model)).epsilon(0.05));
        CHECK(trainer.counts().flops == Approx(step_flops(arm.config)));
        CHECK(result.plan.seqlen == (arm.name == "seqtru" ? 8 : 16));
        CHECK(result.plan.kept == (arm.name == "baseline" ? 16 : 8));
        flops.push_back(step_flops(arm.config));
    }
    CHECK(flops[1] < flops[0]);
    CHECK(flops[2] < flops[1]);
    CHECK(step_arms({gpt2_config(2, 32, 2, 16, 64), 2}).size() == 2);  // no layer to drop tokens in
}

TEST_CASE("the tokens of a bench are as unevenly frequent as words") {
    const StepBench bench{gpt2_config(2, 8, 1, 32, 1000), 8};
    const TokenCorpus corpus = random_corpus(bench);
    std::map<std::int64_t, std::int64_t> count;
    for (std::int64_t i = 0; i < corpus.tokens.size; ++i) ++count[corpus.tokens[i]];
    std::vector<std::int64_t> counts;
    for (const auto& [token, times] : count) counts.push_back(times);
    std::sort(counts.rbegin(), counts.rend());
    const auto share = [&](std::size_t rank) {
        return static_cast<double>(counts[rank]) / static_cast<double>(corpus.tokens.size);
    };
    CHECK(share(0) == Approx(std::log(2) / std::log(1000)).epsilon(0.1));
    CHECK(share(1) == Approx(std::log(1.5) / std::log(1000)).epsilon(0.1));
    CHECK(counts.size() > 900);
}

TEST_CASE("a bench of a model that looks to both sides trains on samples with padding, masked tokens and orders") {
    StepBench bench{gpt2_config(4, 32, 2, 64, 300), 3};
    for (BlockConfig& block : bench.model.blocks) block.attention.causal = false;
    bench.model.input.segments = 2;
    bench.model.class_head = ClassHeadConfig{.pooler = true};
    const TrainingData data = random_training_data(bench);
    CHECK(sample_count(data, 64) > 100);
    for (const StepArm& arm : step_arms(bench)) {
        INFO(arm.name);
        Trainer trainer(arm.config, data, 1);
        CHECK(trainer.step().loss == Approx(expected_first_loss(bench.model)).epsilon(0.05));
        if (arm.name == "baseline") CHECK(trainer.counts().padding_tokens > 0);
    }
    CHECK(expected_first_loss(bench.model) > std::log(300) + std::log(2));

    const std::vector<StepArm> arms = padding_arms(bench, data);
    REQUIRE(arms.size() == 2);
    CHECK(step_arms(bench).front().config.packs_samples);
    CHECK(!arms[0].config.packs_samples);
    CHECK(arms[0].config.batch_size == 3);
    const double tokens = tokens_of_step(arms[0].config, data);
    CHECK(tokens < 3 * 64);
    CHECK(arms[1].has_full_samples);
    CHECK(arms[1].config.batch_size == std::lround(tokens / 64));
    // An even room for text and an odd one.
    for (const std::int64_t seqlen : {64, 63}) {
        bench.model.max_seqlen = seqlen;
        const TrainingData full = full_training_data(bench);
        const auto& samples = *std::get<std::shared_ptr<const BertSamples>>(full);
        std::int64_t shorter = 0;
        for (std::int64_t i = 0; i < samples.size(); ++i) shorter += samples.real_length(i) < seqlen;
        CHECK(samples.size() > 100);
        CHECK(shorter <= 2);  // the last document ends anywhere
    }
}

TEST_CASE("a bench of a model of images trains on random pixels and labels, of no more memory than it needs") {
    StepBench bench{small_vit(PositionsOf::learned, Pooling::first), 5};
    bench.model.blocks.resize(4, bench.model.blocks[0]);
    bench.model.init_std = 0.02;
    const TrainingData data = random_training_data(bench);
    CHECK(sample_count(data, 7) == 64 * 5);
    const ImageSamples& samples = *std::get<std::shared_ptr<const ImageSamples>>(data);
    const auto [least, most] = std::minmax_element(samples.images.pixels.begin(), samples.images.pixels.end());
    CHECK(*least == 0);
    CHECK(*most == 255);
    for (std::int32_t label = 0; label < 3; ++label)
        CHECK(std::count(samples.images.labels.begin(), samples.images.labels.end(), label) > 64 * 5 / 5);
    std::vector<float> normalised(6 * 4 * 2);
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < samples.size(); ++i) {
        write_augmented(samples.images, i, samples.augmentation, {}, normalised);
        for (const float value : normalised) {
            sum += value;
            squares += value * value;
        }
    }
    CHECK(sum / (64 * 5 * 48) == Approx(0).margin(0.05));
    CHECK(squares / (64 * 5 * 48) == Approx(1).epsilon(0.05));

    const std::vector<StepArm> arms = step_arms(bench);
    REQUIRE(arms.size() == 2);  // images are not cut
    for (const StepArm& arm : arms) {
        INFO(arm.name);
        Trainer trainer(arm.config, data, 1);
        const StepResult result = trainer.step();
        CHECK(result.loss == Approx(expected_first_loss(bench.model)).epsilon(0.05));
        CHECK(result.plan.kept == (arm.name == "baseline" ? 7 : 3));
        CHECK(trainer.counts().flops == Approx(step_flops(arm.config)));
    }
    CHECK(step_flops(arms[1].config) < step_flops(arms[0].config));
    // ln 3, and half of 8 columns of variance 0.0004.
    CHECK(expected_first_loss(bench.model) == Approx(std::log(3) + 0.0016).epsilon(1e-12));
    const StepTime time = time_steps(bench, Backend{}, 1, 0);
    CHECK(time.loss == Approx(expected_first_loss(bench.model)).epsilon(0.05));
    CHECK(time.flops == step_flops(arms[0].config));

    // 224 x 224 x 3 are 150,528 bytes: batches of 100 fit twice in 32 MiB, a batch of 112 fits once.
    bench.model.input.patches = PatchConfig{.height = 224, .width = 224, .channels = 3, .size = 112};
    bench.model.max_seqlen = 5;
    for (const auto& [batch, images] : {std::pair{100, 200}, {112, 112}}) {
        bench.batch_size = batch;
        CHECK(sample_count(random_training_data(bench), 5) == images);
    }
}

TEST_CASE("the inner layers alone run forward and backward, whole and with half the tokens") {
    const TransformerConfig model = gpt2_config(5, 32, 2, 16, 64, 0.02);
    InnerLayers full(model, 2, 16, 2), half(model, 2, 8, 2);
    for (InnerLayers* layers : {&full, &half})
        for (int run = 0; run < 3; ++run) {
            CHECK(layers->run() > 0);
            CHECK(layers->is_sane());
        }
    // Computed by hand: 6 (12 C^2 + 13 C) K + 6 C K^2 of each of 2 samples in 3 layers.
    const auto by_hand = [](double K) { return 2 * 3 * (6 * (12 * 32 * 32 + 13 * 32) * K + 6 * 32 * K * K); };
    CHECK(full.flops() == by_hand(16));
    CHECK(half.flops() == by_hand(8));
    CHECK_THROWS_WITH(InnerLayers(gpt2_config(2, 32, 2, 16, 64), 2, 8, 1),
                      ContainsSubstring("fewer than three layers"));
}
