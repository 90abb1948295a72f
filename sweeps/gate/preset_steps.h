#pragma once
// Training steps of presets: what deft bench step, deft profile and deft check bench time by a model's name.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/bench/step.h"
#include "kernels/bench/bench_case.h"

namespace deft::sweeps {

// A preset without dropout, on made-up data. batch: samples; 0: as many as have 4,096 tokens together where the model
// looks to both sides, and 2,048 where it does not; 32 images. vocab: entries; 0: 30,522 and 8,192; of images none.
// Errors: config, for an unknown preset, with the nearest one.
engine::StepBench preset_step(const std::string& preset, std::int64_t batch = 0, std::int64_t vocab = 0);

// Refuses steps whose buffers, of all of these trainers together, are more than what this machine, or its first GPU,
// has. Nothing is allocated for it. what: for the message, as in "a step of gpt3_6.7b". Errors: memory, with what is
// needed and what is there; config, for a dtype or head size that the backend lacks; missing, for a device that is not
// there.
void require_memory(const std::string& what, const std::vector<engine::TrainerConfig>& trainers,
                    const engine::Backend& backend);

// The benchmark cases of presets, on the CPU: "step/llama_mini", one a preset.
inline constexpr const char* kStepCases = "step/";
bool is_preset_step(const std::string& case_name);
std::vector<kernels::BenchCase> preset_step_benches();
// Nothing where none has the name.
std::optional<kernels::BenchCase> find_preset_step_bench(const std::string& case_name);
// Errors: as require_memory(), where one of these cases is a preset's and the processes that train it at once need
// more. Names of other programs' cases are passed over.
void require_memory_of_cases(const std::vector<std::string>& case_names, int processes);

}  // namespace deft::sweeps
