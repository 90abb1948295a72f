// Training steps of presets as benchmark cases: which are meant, what they are, and what is refused.

#include "sweeps/gate/preset_steps.h"

#include "base/error.h"
#include "base/usable_machine.h"
#include "experiments/model_presets.h"
#include "sweeps/gate/bench_cases.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::sweeps;

TEST_CASE("a preset's step has the tokens and the vocabulary of its kind, or those asked for") {
    const engine::StepBench gpt = preset_step("gpt_mini"), bert = preset_step("bert_mini");
    CHECK(gpt.batch_size == 8);  // x 256 = 2048
    CHECK(gpt.model.vocab == 8192);
    CHECK(bert.batch_size == 32);  // x 128 = 4096
    CHECK(bert.model.vocab == 30522);
    CHECK(bert.name == "bert_mini,30522,128,32");
    CHECK(preset_step("gpt3_350m").batch_size == 1);
    CHECK(preset_step("vit_mini").batch_size == 32);
    CHECK(preset_step("vit_mini").model.vocab == 0);
    CHECK(preset_step("vit_mini").name == "vit_mini,65,32");
    const engine::StepBench asked = preset_step("llama_mini", 3, 100);
    CHECK(asked.batch_size == 3);
    CHECK(asked.model.vocab == 100);
    CHECK_THAT(test::refusal([] { preset_step("lama_mini"); }), ContainsSubstring("did you mean \"llama_mini\"?"));
}

TEST_CASE("steps of presets are cases, and meant only where a pattern begins as their names do", "[slow]") {
    std::size_t steps = 0;
    for (const kernels::BenchCase& bench : bench_cases()) steps += is_preset_step(bench.name) ? 1 : 0;
    CHECK(steps == experiments::model_presets().size());
    for (const kernels::BenchCase& bench : bench_cases(kernels::BenchBackends::cuda))
        CHECK(!is_preset_step(bench.name));

    CHECK(!is_meant("step/llama_mini", {}));
    CHECK(!is_meant("step/llama_mini", {"*"}));
    CHECK(!is_meant("step/llama_mini", {"*llama*", "step/bert_*"}));
    CHECK(is_meant("step/llama_mini", {"linear_*", "step/*_mini"}));
    CHECK(is_meant("linear_forward/1", {}));
    CHECK(is_meant("linear_forward/1", {"step/*", "linear_*"}));
    CHECK(!is_meant("linear_forward/1", {"step/*"}));
    for (const kernels::BenchCase& bench : chosen_benches({}, kernels::BenchBackends::cpu))
        CHECK(!is_preset_step(bench.name));
    CHECK(chosen_benches({"step/*_mini"}, kernels::BenchBackends::cpu).size() == 4);
}

TEST_CASE("a preset's case trains that model, with the FLOPs of its step") {
    CHECK(!find_bench_case("step/no_such_model", 0));
    const std::optional<kernels::BenchCase> bench = find_bench_case("step/gpt_mini", 0);
    REQUIRE(bench);
    // 6 a weight and token without the position table, and attention's products, of 8 x 256 tokens.
    constexpr double L = 6, C = 256, T = 256, V = 8192;
    const double flops = 8 * T * (6 * (L * (12 * C * C + 13 * C) + 2 * C + V * C) + 6 * L * C * T);
    CHECK(bench->flops == Approx(flops).epsilon(1e-12));
    kernels::PreparedBench prepared = bench->prepare(2);
    CHECK(prepared.wrong.empty());
    CHECK(prepared.flops == Approx(flops).epsilon(1e-12));
    CHECK(prepared.items == 2048);
    prepared.hot();
    CHECK(!prepared.cold);
}

TEST_CASE("steps that the memory does not hold are refused with what they need and what is there", "[slow]") {
    const std::vector<std::string> names = {"linear_forward/1", "step/of_another_program", "step/llama_mini"};
    CHECK(test::refusal(ErrorKind::memory, [&] { require_memory_of_cases(names, 1); }) == "accepted");
    const std::string said = test::refusal(ErrorKind::memory, [&] { require_memory_of_cases(names, 100'000); });
    CHECK_THAT(said, ContainsSubstring("step/llama_mini, in 100000 processes at once, plans") &&
                         ContainsSubstring("this machine has") && ContainsSubstring("nothing was allocated"));
    // As many trainers as this machine holds, and one more.
    const engine::TrainerConfig one = engine::trainer_config_of(preset_step("gpt_mini"));
    const auto most = static_cast<std::size_t>(usable_memory() / engine::plan_memory(one, {}).bytes);
    CHECK(test::refusal(ErrorKind::memory, [&] { require_memory("it", std::vector(most, one), {}); }) == "accepted");
    CHECK_THAT(test::refusal(ErrorKind::memory, [&] { require_memory("it", std::vector(most + 1, one), {}); }),
               ContainsSubstring("it plans"));
}
