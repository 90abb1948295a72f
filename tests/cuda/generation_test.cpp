// Generation on the CUDA device, real or emulated: the CPU's texts, and steps that are recorded and started again.

#include "engine/generation/generator.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/cuda/short_steps.h"

using namespace deft::engine;

namespace {

// A model of random weights on one backend.
struct Asked {
    Backend backend;
    Arena arena;
    std::unique_ptr<Transformer> model;
    Exec exec;

    Asked(const TransformerConfig& config, const Backend& on, std::int64_t samples)
        : backend(on), arena(on.device), model(plan_and_commit(arena, [&](Arena& a) {
              return std::make_unique<Transformer>(a, config, on, planned_batch(config, samples), Purpose::inference);
          })) {
        exec = make_exec(backend, arena);
        initialise(exec, model->parameters(), 3, config.init_std, config.layers());
    }
};

struct Texts {
    std::vector<std::int32_t> tokens;     // of all steps of all samples
    std::vector<double> log_probability;  // of them
    StepGraphs::Counts counts;
    std::string refusal;
};

// Three samples that go on from prompts of several lengths, one after the other.
Texts generate(const TransformerConfig& config, const Backend& backend, bool records) {
    constexpr std::int64_t kSamples = 3;
    Asked asked(config, backend, kSamples);
    Generator generator(*asked.model, asked.exec, backend, {kSamples, 0, {1.0, 0, 1, 11}});
    generator.graphs().records = records;
    Texts texts;
    const std::vector<std::int32_t> prompt = {3, 1, 4, 1, 5};
    for (const std::size_t length : {2u, 5u, 1u}) {
        generator.begin(std::span(prompt).first(length));
        while (!generator.is_done())
            for (const Choice& choice : generator.step()) {
                texts.tokens.push_back(choice.token);
                texts.log_probability.push_back(choice.log_probability);
            }
    }
    texts.counts = generator.graphs().counts();
    texts.refusal = generator.graphs().refusal();
    return texts;
}

std::vector<std::pair<const char*, TransformerConfig>> generating_models() {
    TransformerConfig experts = gpt2_config(4, 24, 3, 11, 31, 0.3);
    experts.blocks[1].experts = ExpertsConfig{.count = 3, .top = 2};
    return {{"GPT", gpt2_config(3, 21, 3, 13, 37, 0.3)}, {"Llama", small_llama()}, {"experts", experts}};
}

}  // namespace

TEST_CASE("a device generates the CPU's texts, and bits that do not depend on how its steps start") {
    for (const auto& [name, config] : generating_models()) {
        INFO(name);
        const Texts cpu = generate(config, {Device::cpu, DType::f32, 1}, true);
        CHECK(cpu.counts.direct + cpu.counts.replayed == 0);
        for (const DType dtype : {DType::f32, DType::bf16}) {
            INFO(dtype_name(dtype));
            const Backend gpu{Device::cuda, dtype, 1};
            const Texts direct = generate(config, gpu, false), replayed = generate(config, gpu, true);
            if (dtype == DType::f32) {
                CHECK(direct.tokens == cpu.tokens);
                for (std::size_t i = 0; i < cpu.tokens.size(); ++i)
                    REQUIRE(direct.log_probability[i] == Approx(cpu.log_probability[i]).epsilon(1e-4).margin(1e-4));
            }
            CHECK(replayed.tokens == direct.tokens);
            CHECK(replayed.log_probability == direct.log_probability);
            // All steps but the first have one shape, whatever they hold; prompts are not recorded.
            const auto steps = static_cast<std::int64_t>(direct.tokens.size()) / 3 - 3;
            CHECK(replayed.counts.replayed == steps - 1);
            CHECK(replayed.counts.recorded == 1);
            CHECK(replayed.refusal.empty());
            CHECK(direct.counts.replayed == 0);
        }
    }
}
