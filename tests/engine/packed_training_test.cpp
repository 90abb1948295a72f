// BERT samples packed one after the other, without padding, are trained on as samples in rows of their own are.

#include <cmath>
#include <stdexcept>

#include "engine/train/batches.h"
#include "engine/train/padded_rows.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/model_parts.h"
#include "tests/engine/tiny.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;

namespace {

struct NamedTraining {
    std::string name;
    TrainerConfig config;
};

// BERT with two heads, dropout everywhere and norms on either side; and one that turns its queries and keys.
TrainerConfig bert_training(NormPlacement placement, PositionsOf positions = PositionsOf::learned) {
    TrainerConfig config = tiny_config(4, 20, 6);
    config.model = model_of(NormKind::layer, placement, positions, Activation::gelu_erf, 2, 0.2);
    config.model.blocks.resize(4, config.model.blocks[0]);
    for (BlockConfig& block : config.model.blocks) block.attention.causal = false;
    config.model.max_seqlen = 20;
    config.model.vocab = 14;
    config.model.input.segments = 2;
    config.model.class_head = ClassHeadConfig{.pooler = true};
    return config;
}

// Samples have 9 to 20 tokens: of 11 that a layer keeps some have fewer, and of 4 none.
std::vector<NamedTraining> packed_trainings() {
    std::vector<NamedTraining> all;
    for (const NormPlacement placement : {NormPlacement::pre, NormPlacement::post}) {
        const std::string norm = placement == NormPlacement::pre ? "pre-norm" : "post-norm";
        const TrainerConfig plain = bert_training(placement);
        all.push_back({norm, plain});
        TrainerConfig two = plain;
        two.micro_batch_size = 4;
        all.push_back({norm + ", micro-batches", two});
        for (const std::int64_t kept : {4, 11}) {
            TrainerConfig dropping = two;
            dropping.techniques.dropping = random_ltd(4, {kept, kept, 1, 0, 1});
            all.push_back({norm + ", random-LTD of " + std::to_string(kept), dropping});
            dropping.techniques.dropping = bypass_on({1, 2}, {kept, kept, 1, 0, 1}, 1);
            all.push_back({norm + ", token bypass of " + std::to_string(kept), dropping});
        }
    }
    TrainerConfig cut = bert_training(NormPlacement::post);
    cut.micro_batch_size = 4;
    cut.techniques.seqtru = Pacing{8, 20, 1, 2};
    cut.techniques.dropping = random_ltd(4, {5, 20, 1, 4});
    all.push_back({"samples cut, dropping that grows", cut});
    TrainerConfig turned = bert_training(NormPlacement::pre, PositionsOf::rope);
    turned.techniques.dropping = random_ltd(4, {11, 11, 1, 0, 1});
    all.push_back({"rotary positions", turned});
    return all;
}

double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double error = 0, power = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        error += (a[i] - b[i]) * (a[i] - b[i]);
        power += b[i] * b[i];
    }
    return std::sqrt(error / power);
}

std::vector<float> weights_after_steps(const TrainerConfig& config, int threads) {
    Trainer trainer(config, small_samples(20), threads);
    for (int i = 0; i < 4; ++i) trainer.step();
    return all_parameters<float>(trainer);
}

}  // namespace

TEST_CASE("packed samples train in float as padded ones do") {
    for (auto& [name, config] : packed_trainings()) {
        INFO(name);
        config.packs_samples = true;
        Trainer packed(config, small_samples(20), 2);
        config.packs_samples = false;
        Trainer padded(config, small_samples(20), 1);
        const StepResult a = packed.accumulate_gradients(), b = padded.accumulate_gradients();
        CHECK(a.token_loss == Approx(b.token_loss).epsilon(1e-6));
        CHECK(a.class_loss == Approx(b.class_loss).epsilon(1e-6));
        const std::vector<float> of_packed = values<float>(packed.model().parameters().flat_gradients());
        const std::vector<float> of_padded = values<float>(padded.model().parameters().flat_gradients());
        CHECK(relative_error({of_packed.begin(), of_packed.end()}, {of_padded.begin(), of_padded.end()}) < 1e-5);
    }
}

TEST_CASE("packed samples have the losses and gradients of padded ones, dropout and dropped tokens too") {
    const Backend in_double{Device::cpu, DType::f64, 1};
    for (auto& [name, config] : packed_trainings()) {
        INFO(name);
        config.packs_samples = true;
        Trainer packed(config, small_samples(20), in_double);
        config.packs_samples = false;
        Trainer padded(config, small_samples(20), in_double);
        for (int step = 0; step < 3; ++step) {
            const StepResult a = packed.accumulate_gradients(), b = padded.accumulate_gradients();
            CHECK(a.token_loss == Approx(b.token_loss).epsilon(1e-12));
            CHECK(a.class_loss == Approx(b.class_loss).epsilon(1e-12));
            CHECK(relative_error(values<double>(packed.model().parameters().flat_gradients()),
                                 values<double>(padded.model().parameters().flat_gradients())) < 1e-11);
            REQUIRE(packed.model().packed());
            const Tensor of_packed = packed.model().loaded(packed.model().loss);
            CHECK(relative_error(values<double>(padded_rows(of_packed, packed.model().packed()).tensor),
                                 values<double>(padded.model().loaded(padded.model().loss))) < 1e-11);
            if (padded.kept().index)
                CHECK(values<std::int32_t>(padded_kept_index(packed.kept(), packed.model().packed()).tensor) ==
                      values<std::int32_t>(padded.kept().index));
            packed.update();
            padded.update();
        }
        CHECK(packed.counts().layer_tokens == padded.counts().layer_tokens);
        CHECK(packed.counts().flops == padded.counts().flops);
        CHECK(packed.counts().input_tokens == padded.counts().input_tokens);
        CHECK(packed.counts().padding_tokens == padded.counts().padding_tokens);
    }
}

TEST_CASE("packed samples train to the same bits with any number of threads, and where blocks are computed again") {
    for (auto& [name, config] : packed_trainings()) {
        INFO(name);
        const std::vector<float> one = weights_after_steps(config, 1);
        CHECK(weights_after_steps(config, 2) == one);
        CHECK(weights_after_steps(config, 3) == one);
        for (const Recompute recompute : {Recompute::activation, Recompute::block}) {
            config.recompute = recompute;
            CHECK(weights_after_steps(config, 2) == one);
        }
    }
}

TEST_CASE("packed samples are scored as padded ones, and trained on where the row of a class has a target too") {
    const TransformerConfig config = bert_training(NormPlacement::post).model;
    Arena arena;
    const Backend in_double{Device::cpu, DType::f64, 1};
    auto model =
        plan_and_commit(arena, [&](Arena& a) { return std::make_unique<Transformer>(a, config, in_double, 3); });
    Exec exec = make_exec(in_double, arena);
    initialise(exec, model->parameters(), 1, 0.3, config.layers());
    const std::vector<std::int32_t> length = {3, 1, 4}, start = {0, 3, 4, 8}, position = {0, 1, 2, 0, 0, 1, 2, 3};
    const std::vector<std::int32_t> token = {2, 5, 6, 7, 2, 9, 10, 11}, target = {9, 7, -1, 8, -1, 5, 6, -1};
    const std::vector<std::int32_t> segment = {0, 0, 1, 0, 0, 1, 1, 1}, order = {1, -1, 0};
    ModelInput input{.B = 3, .T = 4};
    input.token = token.data();
    input.target = target.data();
    input.length = length.data();
    input.segment = segment.data();
    input.class_target = order.data();
    input.start = start.data();
    input.position = position.data();
    model->load(exec, input);
    model->evaluate(exec, 3, 4);
    const std::vector<double> losses = values<double>(model->loaded(model->loss));
    const std::vector<double> of_classes = values<double>(model->class_loss.view({3}));
    REQUIRE(losses.size() == 8);
    std::vector<std::int64_t> draw = {4, 9, 5};
    const DropoutKeys random{7, 2, make_tensor(draw.data(), DType::i64, {3})};
    model->forward_backward(exec, 3, 4, {}, random, {}, Accumulate::no);
    const std::vector<double> gradients = values<double>(model->parameters().flat_gradients());
    const Ids padded_token = {2, 5, 6, 0, 7, 0, 0, 0, 2, 9, 10, 11},
              padded_segment = {0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1};
    const Ids padded_target = {9, 7, -1, -1, 8, -1, -1, -1, -1, 5, 6, -1};
    input.start = input.position = nullptr;
    input.token = padded_token.data();
    input.target = padded_target.data();
    input.segment = padded_segment.data();
    model->load(exec, input);
    model->evaluate(exec, 3, 4);
    const std::vector<double> padded = values<double>(model->loss.view({3, 4}));
    const std::vector<std::size_t> place = {0, 1, 2, 4, 8, 9, 10, 11};
    for (std::size_t i = 0; i < place.size(); ++i) CHECK(losses[i] == Approx(padded[place[i]]).epsilon(1e-12));
    CHECK(relative_error(of_classes, values<double>(model->class_loss.view({3}))) < 1e-12);
    model->forward_backward(exec, 3, 4, {}, random, {}, Accumulate::no);
    CHECK(relative_error(gradients, values<double>(model->parameters().flat_gradients())) < 1e-12);
}

TEST_CASE("packed rows of a step: tokens, positions, and where samples and kept tokens start in their micro-batch") {
    const auto samples = small_samples(20);
    TrainerConfig config = bert_training(NormPlacement::post);
    config.techniques.dropping = random_ltd(4, {11, 11, 1, 0, 1});
    Batches packed(samples, config, Device::cpu);
    config.packs_samples = false;
    Batches padded(samples, config, Device::cpu);
    const StepPlan plan = plan_step(config, 0);
    std::vector<Sampler::Draw> draws;
    for (const std::int64_t sample : {3, 0, 5, 3, 7}) draws.push_back({sample, 0});
    StepPlan five = plan;
    five.rows = five.samples = 5;
    packed.stage(five, draws, 70, 2);
    padded.stage(five, draws, 70);
    CHECK(packed.targets().tokens == padded.targets().tokens);
    CHECK(packed.targets().classes == padded.targets().classes);
    CHECK(packed.tokens().padding == padded.tokens().padding);
    bool some_longer = false, some_shorter = false;
    for (std::int64_t first = 0; first < 5; first += 2) {
        const std::int64_t B = std::min<std::int64_t>(2, 5 - first);
        const ModelInput rows = packed.rows(first, B), wide = padded.rows(first, B);
        std::int32_t start = 0, kept = 0;
        for (std::int64_t b = 0; b < B; ++b) {
            CHECK(rows.start[b] == start);
            CHECK(rows.kept_start[b] == kept);
            CHECK(rows.draw[b] == wide.draw[b]);
            CHECK(rows.class_target[b] == wide.class_target[b]);
            REQUIRE(rows.length[b] == wide.length[b]);
            for (std::int32_t t = 0; t < rows.length[b]; ++t) {
                CHECK(rows.token[start + t] == wide.token[b * 20 + t]);
                CHECK(rows.target[start + t] == wide.target[b * 20 + t]);
                CHECK(rows.segment[start + t] == wide.segment[b * 20 + t]);
                CHECK(rows.position[start + t] == t);
            }
            start += rows.length[b];
            kept += std::min(11, rows.length[b]);
            some_longer = some_longer || rows.length[b] > 11;
            some_shorter = some_shorter || rows.length[b] < 11;
        }
        CHECK(rows.start[B] == start);
        CHECK(rows.kept_start[B] == kept);
        CHECK(rows.rows() == start);
    }
    CHECK(some_longer);
    CHECK(some_shorter);
    CHECK_THROWS_AS(packed.rows(1, 1), std::logic_error);
    CHECK_THROWS_AS(packed.rows(0, 3), std::logic_error);
}

TEST_CASE("packed rows are laid out with padding by hand") {
    std::vector<std::int32_t> start = {0, 3, 4}, rows = {10, 11, 12, 20};
    std::vector<double> wide = {1, 2, 3, 4, 5, 6, 7, 8};
    const SampleStarts packed{make_tensor(start.data(), DType::i32, {3}), 4};
    CHECK(values<std::int32_t>(padded_rows(make_tensor(rows.data(), DType::i32, {1, 4}), packed, -1).tensor) ==
          Ids{10, 11, 12, -1, 20, -1, -1, -1});
    CHECK(values<double>(padded_rows(make_tensor(wide.data(), DType::f64, {1, 4, 2}), packed).tensor) ==
          std::vector<double>{1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0});
    // Two of the first sample's three tokens, and the only one of the second.
    std::vector<std::int32_t> kept_start = {0, 2, 3}, index = {0, 2, 3, 1, 2, 3}, position = {0, 2, 0, 1, 2, 0};
    KeptTokens kept{make_tensor(index.data(), DType::i32, {2, 1, 3}),
                    {},
                    make_tensor(position.data(), DType::i32, {2, 1, 3}),
                    {make_tensor(kept_start.data(), DType::i32, {3}), 2}};
    CHECK(values<std::int32_t>(padded_kept_index(kept, packed).tensor) == Ids{0, 2, 0, 1, 1, 2, 0, 1});
}
