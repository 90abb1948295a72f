// Requirements of training a preset: FLOPs, memory, hours and dollars worked out by hand, and compared with papers.

#include "experiments/preset_plan.h"

#include <map>

#include "base/error.h"
#include "experiments/model_presets.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::experiments;

namespace {

PresetPlan planned_preset(const std::string& name, engine::DType dtype = engine::DType::bf16, std::int64_t batch = 1) {
    PresetPlanSettings settings{name};
    settings.dtype = dtype;
    settings.micro_batch_size = batch;
    return plan_preset(settings);
}

std::int64_t bytes_of(const PresetPlan& plan, engine::Region region) {
    std::int64_t bytes = 0;
    for (const engine::PlannedBuffer& buffer : plan.memory.buffers)
        if (buffer.region == region) bytes += buffer.bytes;
    return bytes;
}

}  // namespace

TEST_CASE("FLOPs a token of presets, by hand") {
    // Forward and backward are 6 a weight that a token meets, tables of what it is looked up in left out; attention's
    // two products over T positions are 12 C T a layer, half of it where a token sees those before it alone.
    {
        constexpr double L = 24, C = 1024, T = 2048, V = 50257;
        const double weights = L * (12 * C * C + 13 * C) + 2 * C + V * C;
        CHECK(planned_preset("gpt3_350m").flops_per_token == Approx(6 * weights + 6 * L * C * T).epsilon(1e-12));
    }
    {
        constexpr double L = 24, C = 1024, T = 512, V = 30522;
        const double rows =
            L * (12 * C * C + 13 * C) + 2 * C + (C * C + C) + 2 * C;  // blocks, norm, transform, its norm
        const double guessed = 0.15 * (V * C + V);
        const double of_sample = (C * C + C) + (2 * C + 2);  // pooler and two orders
        CHECK(planned_preset("bert_large").flops_per_token ==
              Approx(6 * (rows + guessed + of_sample / T) + 12 * L * C * T).epsilon(1e-12));
    }
    {
        constexpr double L = 22, C = 2048, T = 2048, V = 32000, kv = 4 * 64, hidden = 5632;
        const double weights = L * (2 * C * C + 2 * kv * C + 3 * C * hidden + 2 * C) + C + V * C;
        CHECK(planned_preset("llama_1b").flops_per_token == Approx(6 * weights + 6 * L * C * T).epsilon(1e-12));
    }
}

TEST_CASE("budgets and compute of presets are those that their papers print") {
    // Brown et al. 2020, table D.1: 6 FLOP a parameter and token, on 300 billion tokens.
    const std::map<std::string, double> brown = {
        {"gpt3_350m", 6.41e20}, {"gpt3_1.3b", 2.38e21}, {"gpt3_6.7b", 1.20e22}};
    for (const auto& [name, flops] : brown) {
        INFO(name);
        const PresetPlan plan = planned_preset(name);
        CHECK(plan.tokens == 300'000'000'000);
        CHECK(6.0 * static_cast<double>(plan.parameters) * static_cast<double>(plan.tokens) ==
              Approx(flops).epsilon(0.01));
        CHECK(plan.flops() > flops);  // attention's products too
        CHECK_THAT(plan.tokens_source, ContainsSubstring("Brown et al. 2020"));
    }
    CHECK(planned_preset("bert_large").tokens == 2'000'000LL * 1024 * 512);  // printed as 1049B
    CHECK(planned_preset("llama_1b").tokens == 3'000'000'000'000);
    CHECK(planned_preset("llama_1b").parameters == 1'100'048'384);
    CHECK(planned_preset("gpt2_small").tokens == 0);
    CHECK(planned_preset("gpt2_small").flops() == 0);
}

TEST_CASE("every preset can be planned unchanged") {
    for (const std::string& name : model_presets()) {
        INFO(name);
        const PresetPlan plan = planned_preset(name);
        CHECK(plan.parameters > 1'000'000);
        CHECK(plan.flops_per_token > 6e6);
        CHECK(plan.tokens_source.empty() == (plan.tokens == 0));
    }
}

TEST_CASE("memory of a preset by buffer") {
    // All buffers of this model are multiples of 64 bytes, so that none is padded but the vocabulary, to 50304 rows.
    constexpr std::int64_t P = 355'871'744, C = 1024, T = 2048, stored = P + (50'304 - 50'257) * C;
    const PresetPlan bf16 = planned_preset("gpt3_350m"), f32 = planned_preset("gpt3_350m", engine::DType::f32, 2);
    CHECK(bf16.parameters == P);
    for (const PresetPlan* plan : {&bf16, &f32}) {
        CHECK(bytes_of(*plan, engine::Region::parameters) == 4 * stored);
        CHECK(bytes_of(*plan, engine::Region::gradients) == 4 * stored);
        CHECK(bytes_of(*plan, engine::Region::optimizer) == 8 * stored);
    }
    CHECK(bytes_of(bf16, engine::Region::rounded) == 2 * stored);
    CHECK(bytes_of(f32, engine::Region::rounded) == 0);
    std::int64_t sum = 0;
    int found = 0;
    for (const engine::PlannedBuffer& buffer : f32.memory.buffers) {
        sum += buffer.bytes;
        if (buffer.name != "h.23.qkv") continue;
        ++found;
        CHECK(buffer.region == engine::Region::activations);
        CHECK(buffer.shape.shape_text() == "(2, 2048, 3072) f32");
        CHECK(buffer.bytes == 4 * 2 * T * 3 * C);
    }
    CHECK(found == 1);
    CHECK(sum <= f32.memory.bytes);
    CHECK(sum + 64 * std::ssize(f32.memory.buffers) >= f32.memory.bytes);
}

TEST_CASE("tokens and a vocabulary that are asked for replace the paper's") {
    PresetPlanSettings settings{"gpt3_350m"};
    settings.tokens = 7'000'000;
    settings.vocab = 257;
    const PresetPlan plan = plan_preset(settings);
    CHECK(plan.tokens == 7'000'000);
    CHECK(plan.tokens_source.empty());
    CHECK(plan.parameters == 355'871'744 - (50257 - 257) * 1024);
    CHECK(plan.flops() == Approx(plan.flops_per_token * 7e6));
}

TEST_CASE("hours and dollars of a preset by hand") {
    const PresetPlan plan = planned_preset("llama_1b");
    const Device v100 = device_named("V100", {}), h100 = device_named("H100-SXM", {});
    CHECK(use_of(v100, engine::DType::bf16, 1, 0.5).dtype == "fp16");  // the first of its peaks
    CHECK(use_of(v100, engine::DType::f32, 1, 0.5).dtype == "fp32");
    CHECK(use_of(h100, engine::DType::bf16, 1, 0.5).peak_flops() == 989e12);
    CHECK(use_of(device_named("A100-40GB", {}), engine::DType::f32, 1, 0.5).peak_flops() == 19.5e12);

    const PresetOnDevice planned = plan_on_device(plan, use_of(h100, engine::DType::bf16, 8, 0.4), 2.5);
    const double hours = plan.flops_per_token * 3e12 / (8 * 989e12 * 0.4) / 3600;
    REQUIRE(planned.hours);
    CHECK(*planned.hours == Approx(hours).epsilon(1e-12));
    CHECK(*planned.dollars == Approx(8 * hours * 2.5).epsilon(1e-12));
    CHECK(planned.holds_memory == true);

    Device priced = h100;
    priced.price = DevicePrice{3, "2025-01-31", "a test"};
    CHECK(*plan_on_device(plan, {priced, "bf16", 1, 0.4}, {}).dollars == Approx(8 * hours * 3).epsilon(1e-12));
    priced.price.reset();
    CHECK(!plan_on_device(plan, {priced, "bf16", 1, 0.4}, {}).dollars);

    const PresetOnDevice core =
        plan_on_device(plan, use_of(device_named("cpu core", {}), engine::DType::f32, 2, 0.4), 1);
    CHECK((!core.hours && !core.dollars && !core.holds_memory));
    CHECK(!plan_on_device(planned_preset("gpt2_small"), {h100, "bf16", 1, 0.4}, 1).hours);
    Device small = h100;
    small.memory_bytes = plan.memory.bytes - 1;
    CHECK(plan_on_device(plan, {small, "bf16", 1, 0.4}, {}).holds_memory == false);
}

TEST_CASE("a preset that there is not, and what its device cannot compute, are refused") {
    CHECK_THAT(test::refusal([] { planned_preset("bert_larg"); }), ContainsSubstring("did you mean bert_large?"));
    CHECK_THAT(test::refusal([] {
                   plan_preset({.preset = "gpt_mini", .device = engine::Device::cpu, .dtype = engine::DType::bf16});
               }),
               ContainsSubstring("no bf16"));
    CHECK_THAT(test::refusal([] { planned_preset("gpt3_6.7b", engine::DType::f32, 1 << 20); }),
               ContainsSubstring("1048576 samples of gpt3_6.7b") && ContainsSubstring("lower the micro-batch"));
}
