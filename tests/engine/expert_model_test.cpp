// Models with layers of experts: gradients, invariances, and the statistics of a step.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/generation/generator.h"
#include "engine/models/parts_json.h"
#include "tests/catch.h"
#include "tests/engine/finite_differences.h"
#include "tests/engine/model_parts.h"
#include "tests/engine/tiny.h"

using namespace deft::engine;
namespace kernels = deft::kernels;

namespace {

using SmallModel = deft::engine::Model;
constexpr std::int64_t kSamples = SmallModel::B, kTokens = SmallModel::T;

ExpertsConfig dropless_experts(std::int64_t count, std::int64_t top) {
    return {.count = count, .top = top, .capacity_factor = 0, .aux_weight = 0.2, .z_weight = 0.1};
}

TransformerConfig with_experts(TransformerConfig config, const ExpertsConfig& first, const ExpertsConfig& second) {
    config.blocks[0].experts = first;
    config.blocks[1].experts = second;
    return config;
}

// Pre-norm and post-norm, gated and not, one and several experts a row, dropped choices, dropout, a dense part beside.
std::vector<NamedModel> expert_models() {
    ExpertsConfig tight = dropless_experts(3, 1);
    tight.capacity_factor = 0.7;
    tight.min_capacity = 1;
    ExpertsConfig residual = dropless_experts(4, 2);
    residual.residual = true;
    ExpertsConfig noisy = tight;
    noisy.jitter = 0.1;
    noisy.sampled_noise = true;
    const TransformerConfig plain =
        model_of(NormKind::layer, NormPlacement::pre, PositionsOf::learned, Activation::gelu_tanh, 2, 0);
    return {{"top 1 and 2", with_experts(plain, dropless_experts(4, 1), dropless_experts(3, 2))},
            {"capacity, residual", with_experts(plain, tight, residual)},
            {"noise, gated, dropout",
             with_experts(model_of(NormKind::rms, NormPlacement::pre, PositionsOf::rope, Activation::swiglu, 1, 0.3),
                          noisy, residual)},
            {"post-norm of two segments", with_experts(small_bert(), residual, noisy)}};
}

double auxiliary(const SmallModel& model) {
    double sum = 0;
    for (const Block& block : model.transformer->blocks()) {
        const Experts* const experts = block.experts();
        if (experts == nullptr) continue;
        const Tensor& losses = experts->losses();
        const auto loss = [&](kernels::GateLoss which) {
            return losses.dtype == DType::f64 ? losses.as<double>()[which]
                                              : static_cast<double>(losses.as<float>()[which]);
        };
        sum += experts->config().aux_weight * loss(kernels::kBalanceLoss) +
               experts->config().z_weight * loss(kernels::kZLoss);
    }
    return sum;
}

std::vector<float> bits_of_step(const TransformerConfig& config, int threads, Recompute recompute,
                                const std::vector<std::int32_t>& kept = {}) {
    SmallModel model(config, DType::f32, threads, recompute);
    model.length = {6, 4, 6};
    model.train(0, kSamples, Accumulate::no, kept);
    return model.gradients<float>();
}

}  // namespace

TEST_CASE("models with experts have the gradients of finite differences, with padding and with dropped tokens") {
    for (const NamedModel& named : expert_models()) {
        INFO(named.name);
        SmallModel model(named.config);
        model.length = {6, 4, 6};
        for (const bool drops : {false, true}) {
            INFO("dropped tokens: " << drops);
            const std::vector<std::int32_t> kept =
                drops ? std::vector<std::int32_t>{0, 2, 3, 5, 0, 1, 2, 3, 0, 1, 2, 4} : std::vector<std::int32_t>{};
            check_finite_differences(model.transformer->parameters(), 1e-8, [&] {
                const double heads = model.train(0, kSamples, Accumulate::no, kept);
                return heads + auxiliary(model);
            });
        }
    }
}

TEST_CASE("models with experts train to the same bits on one, two and three threads, and whatever is recomputed") {
    for (const NamedModel& named : expert_models()) {
        INFO(named.name);
        for (const std::vector<std::int32_t>& kept :
             {std::vector<std::int32_t>{}, std::vector<std::int32_t>{0, 2, 3, 5, 0, 1, 2, 3, 0, 1, 2, 4}}) {
            const std::vector<float> one = bits_of_step(named.config, 1, Recompute::none, kept);
            CHECK(std::all_of(one.begin(), one.end(), [](float g) { return std::isfinite(g); }));
            for (const int threads : {2, 3}) CHECK(bits_of_step(named.config, threads, Recompute::none, kept) == one);
            for (const Recompute recompute : {Recompute::activation, Recompute::block})
                CHECK(bits_of_step(named.config, 2, recompute, kept) == one);
        }
    }
}

TEST_CASE("a model of single experts is the dense model, bit for bit") {
    for (const TransformerConfig& config : {small_llama(), small_bert()}) {
        ExpertsConfig one = dropless_experts(1, 1);
        one.aux_weight = one.z_weight = 0;
        SmallModel dense(config, DType::f32), expert(with_experts(config, one, one), DType::f32);
        for (const Parameter& from : dense.transformer->parameters().all())
            for (const Parameter& to : expert.transformer->parameters().all()) {
                std::string name = to.name;
                if (const std::size_t at = name.find("experts."); at != std::string::npos) name.erase(at, 8);
                if (name == from.name) std::copy_n(from.value.as<float>(), from.value.numel(), to.value.as<float>());
            }
        CHECK(dense.train() == expert.train());
        for (const Parameter& from : dense.transformer->parameters().all())
            for (const Parameter& to : expert.transformer->parameters().all()) {
                std::string name = to.name;
                if (const std::size_t at = name.find("experts."); at != std::string::npos) name.erase(at, 8);
                if (name != from.name) continue;
                INFO(name);
                CHECK(
                    std::equal(from.grad.as<float>(), from.grad.as<float>() + from.grad.numel(), to.grad.as<float>()));
            }
        CHECK(expert.transformer->active_parameters() == expert.transformer->parameters().count());
    }
}

TEST_CASE("a later token changes no earlier loss where nothing is dropped, and none of a scored model") {
    ExpertsConfig tight = dropless_experts(3, 1);
    tight.capacity_factor = 0.2;
    tight.min_capacity = 1;
    const TransformerConfig config =
        with_experts(model_of(NormKind::layer, NormPlacement::pre, PositionsOf::learned, Activation::gelu_tanh, 2, 0),
                     tight, dropless_experts(4, 2));
    SmallModel model(config);
    const auto losses = [&] {
        Transformer& transformer = *model.transformer;
        transformer.load(model.exec, {kSamples, kTokens, model.token.data(), model.target.data()});
        transformer.evaluate(model.exec, kSamples, kTokens);
        const double* const loss = transformer.loss.as<double>();
        return std::vector<double>(loss, loss + kSamples * kTokens);
    };
    const std::vector<double> before = losses();
    model.token[4] = (model.token[4] + 1) % 11;
    const std::vector<double> after = losses();
    for (std::size_t i = 0; i < before.size(); ++i) {
        INFO("position " << i);
        CHECK((i == 4 || i == 5) == (before[i] != after[i]));
    }
    // The published models dropped choices when they were scored too.
    TransformerConfig with_capacity = config;
    with_capacity.blocks[0].experts->scores_with_capacity = true;
    SmallModel published(with_capacity);
    published.transformer->load(published.exec, {kSamples, kTokens, model.token.data(), model.target.data()});
    published.transformer->evaluate(published.exec, kSamples, kTokens);
    const double* const dropped = published.transformer->loss.as<double>();
    CHECK_FALSE(std::equal(after.begin(), after.end(), dropped));
    const auto* const start = published.transformer->blocks()[0].experts()->start().as<std::int32_t>();
    CHECK(start[3] <= 6);  // ceil(18 x 0.2 / 3) = 2 rows an expert
    CHECK(published.transformer->blocks()[0].experts()->chosen().as<std::int32_t>()[3] == 18);
}

TEST_CASE("generation from a cache gives the logits of whole passes of models with experts") {
    const TransformerConfig config =
        with_experts(model_of(NormKind::layer, NormPlacement::pre, PositionsOf::learned, Activation::gelu_tanh, 2, 0),
                     dropless_experts(5, 1), dropless_experts(4, 2));
    Arena arena;
    const Backend backend{Device::cpu, DType::f32, 1};
    Tensor whole, last;
    const auto model = plan_and_commit(arena, [&](Arena& a) {
        whole = a.add(Region::activations, "whole", DType::f32, {1, 6, 11});
        last = a.add(Region::activations, "last", DType::f32, {1, 11});
        return std::make_unique<Transformer>(a, config, backend, planned_batch(config, 1), Purpose::inference);
    });
    Exec exec = make_exec(backend, arena);
    initialise(exec, model->parameters(), 3, 0.5, 2);
    const std::vector<std::int32_t> text = {3, 1, 4, 1, 5, 9};
    const std::vector<std::int32_t> targets = {1, 4, 1, 5, 9, 2};
    model->load(exec, {1, 6, text.data(), targets.data()});
    model->evaluate(exec, 1, 6);
    model->logits(exec, whole, 1, 6);
    const std::vector<float> expected(whole.as<float>(), whole.as<float>() + 6 * 11);

    std::vector<float> keys(2 * 2 * 6 * 8);
    KeyValueCache cache;
    cache.samples = 1;
    cache.T = 6;
    std::int32_t length = 0;
    cache.position = cache.lengths = {0};
    cache.length = make_tensor(&length, DType::i32, {1});
    for (std::size_t layer = 0; layer < 2; ++layer)
        cache.layers.push_back({make_tensor(&keys[layer * 96], DType::f32, {1, 6, 8}),
                                make_tensor(&keys[layer * 96 + 48], DType::f32, {1, 6, 8})});
    model->next_logits(exec, cache, std::span(text).first(3), last);
    for (std::size_t token = 3; token <= 6; ++token) {
        for (std::size_t v = 0; v < 11; ++v) {
            INFO("after " << token << " tokens, entry " << v);
            CHECK(last.as<float>()[v] == Approx(expected[(token - 1) * 11 + v]).margin(1e-5));
        }
        if (token < 6) model->next_logits(exec, cache, std::span(text).subspan(token, 1), last);
    }
}

TEST_CASE("a model's size counts all experts and those that a row meets, and FLOPs by the latter") {
    const TransformerConfig dense =
        model_of(NormKind::layer, NormPlacement::pre, PositionsOf::learned, Activation::gelu_tanh, 2, 0);
    TransformerConfig config = dense;
    config.blocks[1].experts = ExpertsConfig{.count = 5, .top = 2};
    // Width 8, hidden 6, with biases.
    const std::int64_t of_expert = 8 * 6 + 6 + 6 * 8 + 8, of_gate = 5 * 8;
    const ModelSize before = model_size(dense), after = model_size(config);
    CHECK(before.active_parameters == before.parameters);
    CHECK(after.parameters == before.parameters + 4 * of_expert + of_gate);
    CHECK(after.active_parameters == before.parameters + of_expert + of_gate);
    CHECK(after.flops.blocks[1].per_row - before.flops.blocks[1].per_row ==
          Approx(6.0 * static_cast<double>(of_expert + of_gate)));
    CHECK(parts_json(model_of_parts(parts_json(config))) == parts_json(config));
    CHECK(model_of_parts(parts_json(config)).blocks[1].experts == config.blocks[1].experts);
    CHECK_FALSE(part_differences(parts_json(config), parts_json(dense)).empty());
}
