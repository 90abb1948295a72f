#include "sweeps/gate/preset_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/usable_machine.h"
#include "experiments/model_presets.h"
#include "reporting/numbers.h"

namespace deft::sweeps {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

// Right: an untrained model's loss on random tokens.
PreparedBench prepare_step(const engine::StepBench& bench, int threads) {
    const auto trainer = std::make_shared<engine::Trainer>(engine::trainer_config_of(bench),
                                                           engine::random_training_data(bench), threads);
    PreparedBench prepared;
    prepared.flops = engine::step_flops(trainer->config());
    prepared.items = static_cast<double>(bench.batch_size * bench.model.max_seqlen);
    prepared.item = "token";
    const double loss = trainer->step().loss, expected = engine::expected_first_loss(bench.model);
    if (!(std::abs(loss - expected) < 0.05 * expected))
        prepared.wrong = fmt::format("the first loss is {:.3f}, where {:.3f} is right", loss, expected);
    prepared.hot = [trainer] { trainer->step(); };
    return prepared;
}

BenchCase case_of(const std::string& preset) {
    const engine::StepBench bench = preset_step(preset);
    return {kStepCases + preset, kernels::kCpu, engine::step_flops(engine::trainer_config_of(bench)), 0,
            [bench](int threads) { return prepare_step(bench, threads); }};
}

// The preset of a case, empty where it is none of this program's.
std::string preset_of_case(const std::string& case_name) {
    if (!is_preset_step(case_name)) return {};
    const std::string preset = case_name.substr(std::string(kStepCases).size());
    const std::vector<std::string> known = experiments::model_presets();
    return std::find(known.begin(), known.end(), preset) != known.end() ? preset : std::string();
}

}  // namespace

engine::StepBench preset_step(const std::string& preset, std::int64_t batch, std::int64_t vocab) {
    constexpr std::int64_t kWordPieces = 30522, kWords = 8192, kImages = 32;
    engine::TransformerConfig model = experiments::preset_model(preset, kWords);
    if (model.input.patches) {
        if (batch == 0) batch = kImages;
        return {model, batch, fmt::format("{},{},{}", preset, model.max_seqlen, batch)};
    }
    const bool is_masked = !model.is_causal();
    model.vocab = vocab > 0 ? vocab : is_masked ? kWordPieces : kWords;
    const std::int64_t tokens = is_masked ? 4096 : 2048;
    if (batch == 0) batch = std::max<std::int64_t>(1, tokens / model.max_seqlen);
    return {model, batch, fmt::format("{},{},{},{}", preset, model.vocab, model.max_seqlen, batch)};
}

void require_memory(const std::string& what, const std::vector<engine::TrainerConfig>& trainers,
                    const engine::Backend& backend) {
    const bool on_gpu = backend.device == engine::Device::cuda;
    double needed = 0;
    for (const engine::TrainerConfig& trainer : trainers) {
        engine::require_backend(backend, trainer.model.head_size());
        needed += static_cast<double>(engine::plan_memory(trainer, backend).bytes);
    }
    const auto there = static_cast<double>(on_gpu ? engine::usable_gpus().front().memory_bytes : usable_memory());
    if (needed <= there) return;
    throw Error(ErrorKind::memory,
                fmt::format("{} plans {} of buffers, and {} has {}", what, reporting::binary_bytes(needed),
                            on_gpu ? "the GPU" : "this machine", reporting::binary_bytes(there)),
                "choose fewer samples with --batch where there is that option, or a smaller model",
                "nothing was allocated");
}

bool is_preset_step(const std::string& case_name) {
    return case_name.starts_with(kStepCases);
}

std::vector<BenchCase> preset_step_benches() {
    std::vector<BenchCase> cases;
    for (const std::string& preset : experiments::model_presets()) cases.push_back(case_of(preset));
    return cases;
}

std::optional<BenchCase> find_preset_step_bench(const std::string& case_name) {
    const std::string preset = preset_of_case(case_name);
    if (preset.empty()) return std::nullopt;
    return case_of(preset);
}

void require_memory_of_cases(const std::vector<std::string>& case_names, int processes) {
    for (const std::string& name : case_names) {
        const std::string preset = preset_of_case(name);
        if (preset.empty()) continue;
        const engine::TrainerConfig trainer = engine::trainer_config_of(preset_step(preset));
        const std::string what =
            processes == 1 ? "the case " + name : fmt::format("{}, in {} processes at once,", name, processes);
        require_memory(what, std::vector(static_cast<std::size_t>(processes), trainer), {});
    }
}

}  // namespace deft::sweeps
