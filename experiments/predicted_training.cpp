#include "experiments/predicted_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "engine/bench/step.h"
#include "experiments/engine_config.h"

namespace deft::experiments {

namespace {

using engine::Pacing;
using engine::StepPlan;
using engine::TrainerConfig;

// The trainer of one device whose every step has the plan's shape.
TrainerConfig at_shape(TrainerConfig config, const StepPlan& plan, std::int64_t devices) {
    const auto constant = [](std::optional<Pacing>& pacing, std::int64_t value) {
        if (pacing) pacing = Pacing{value, value};
    };
    if (config.techniques.variable_batch) config.micro_batch_size = engine::rows_at_once(config, plan.seqlen);
    config.techniques.variable_batch.reset();
    config.techniques.batch_ramp.reset();
    constant(config.techniques.seqtru, plan.seqlen);
    constant(config.techniques.seqres, plan.seqlen);
    if (config.techniques.dropping) config.techniques.dropping->kept = Pacing{plan.kept, plan.kept};
    config.batch_size = (plan.samples + devices - 1) / devices;
    config.micro_batch_size = std::min(config.micro_batch_size, config.batch_size);
    config.epoch_samples = 0;
    config.whole_steps = false;
    config.zero = 0;
    return config;
}

// Settings that decide the work of a step of a given shape.
std::string settings_key(const TrialConfig& config, const PredictedOn& on) {
    Json json = to_json(config);
    for (const char* key : {"seed", "curriculum", "eval", "start"}) json.erase(key);
    for (const char* key : {"learning_rate", "min_learning_rate", "budget_tokens", "budget_fraction", "warmup_tokens",
                            "warmup_steps", "decay_tokens"})
        json["train"].erase(key);
    return fmt::format("{} {} {} {}", on.card.name, engine::dtype_name(on.dtype), on.devices, json.dump());
}

}  // namespace

double PredictedTraining::ops_seconds() const {
    double sum = 0;
    for (const SampledStep& step : sampled) sum += step.share * step.seconds;
    return sum;
}

double PredictedTraining::step_seconds() const {
    return ops_seconds() + between_devices;
}

std::string lacks_room(std::int64_t bytes) {
    constexpr std::int64_t kGiB = std::int64_t{1} << 30, kMostGiB = 512;
    return bytes > kMostGiB * kGiB ? fmt::format("its buffers exceed {} GiB", kMostGiB) : "";
}

std::string lacks_prediction(const TrialConfig& config, const Projection& projection) {
    if (is_imported(config)) return "an imported model is not trained";
    if (config.data.samples == SampleKind::labelled) return "lengths of labelled texts are those of their records";
    if (!projection.has_steps || projection.steps == 0) return "the number of steps is unknown";
    if (config.train.expert_ranks > 1) return "the step model divides no experts among devices";
    return lacks_room(projection.memory_bytes);
}

double predict_step_of_batch(const TrainerConfig& config, const engine::TrainingData& data,
                             const engine::CardModel& card, engine::DType dtype) {
    const auto seconds_of = [&](std::int64_t samples) {
        TrainerConfig part = config;
        part.batch_size = samples;
        return engine::predicted_seconds(engine::record_first_step(part, data, dtype), card, dtype);
    };
    const std::int64_t micro = config.micro_batch_size, full = config.batch_size / micro;
    if (full <= 3) return seconds_of(config.batch_size);
    const std::int64_t rest = config.batch_size % micro;
    const double one = seconds_of(micro + rest), two = seconds_of(2 * micro + rest);
    return one + static_cast<double>(full - 1) * (two - one);
}

PredictedTraining predict_training(const TrialConfig& config, const Projection& projection, const PredictedOn& on,
                                   PredictedShapes& shapes) {
    const TrainerConfig trainer = trainer_config(config);
    const std::string settings = settings_key(config, on);
    std::optional<engine::TrainingData> data;
    PredictedTraining training;
    training.steps = projection.steps;
    training.input_tokens = static_cast<double>(projection.input_tokens);
    const std::int64_t parts = std::min(kSampledSteps, projection.steps);
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = part * projection.steps / parts, end = (part + 1) * projection.steps / parts;
        const std::int64_t step = (first + end) / 2;
        const StepPlan plan = engine::plan_step(trainer, step);
        SampledStep& sampled = training.sampled.emplace_back();
        sampled = {step + 1,
                   plan.samples,
                   plan.seqlen,
                   plan.kept,
                   static_cast<double>(end - first) / static_cast<double>(projection.steps),
                   0};
        const auto [found, is_new] = shapes.try_emplace(
            fmt::format("{} {} {} {} {}", settings, plan.samples, plan.rows, plan.seqlen, plan.kept), 0.0);
        if (is_new) {
            if (!data) data = engine::blank_training_data(trainer.model);
            found->second = predict_step_of_batch(at_shape(trainer, plan, on.devices), *data, on.card, on.dtype);
        }
        sampled.seconds = found->second;
    }
    return training;
}

}  // namespace deft::experiments
