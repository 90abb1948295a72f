#include "experiments/preset_plan.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/bench/step.h"
#include "experiments/card_of_device.h"
#include "experiments/model_presets.h"
#include "experiments/predicted_training.h"
#include "experiments/size_limits.h"

namespace deft::experiments {

PresetPlan plan_preset(const PresetPlanSettings& settings) {
    const PresetTraining training = preset_training(settings.preset);
    PresetPlan plan;
    plan.settings = settings;
    plan.model = preset_model(settings.preset, settings.vocab > 0 ? settings.vocab : training.vocab);
    const engine::Backend backend{settings.device, settings.dtype, 1};
    engine::require_supported(backend, plan.model.head_size());

    const engine::ModelSize size = engine::model_size(plan.model);
    plan.parameters = size.parameters;
    plan.active_parameters = size.active_parameters;
    const engine::StepPlan whole = engine::plan_step(plan.model.extents(), {}, 0);
    plan.flops_per_token = engine::sample_flops(size.flops, {}, whole) / static_cast<double>(whole.seqlen);
    plan.tokens = settings.tokens > 0 ? settings.tokens : training.tokens;
    if (settings.tokens == 0) plan.tokens_source = training.source;

    engine::TrainerConfig trainer;
    trainer.model = plan.model;
    trainer.batch_size = trainer.micro_batch_size = settings.micro_batch_size;
    plan.memory = engine::plan_memory(trainer, backend);
    if (static_cast<double>(plan.memory.bytes) > kMostBufferBytes)
        throw Error(ErrorKind::config,
                    fmt::format("{} samples of {} at once plan {:.3g} bytes, more than the {:g} that a plan may have",
                                settings.micro_batch_size, settings.preset, static_cast<double>(plan.memory.bytes),
                                kMostBufferBytes),
                    "lower the micro-batch");
    return plan;
}

DeviceUse use_of(const Device& device, engine::DType dtype, std::int64_t devices, double utilisation) {
    DeviceUse use{device, "", devices, utilisation};
    if (dtype == engine::DType::f32)
        use.dtype = device.find_peak("fp32") == nullptr ? "" : "fp32";
    else if (!device.peaks.empty())
        use.dtype = device.peaks.front().dtype;
    return use;
}

PresetOnDevice plan_on_device(const PresetPlan& plan, const DeviceUse& use, std::optional<double> usd_per_hour) {
    PresetOnDevice planned{use, {}, {}, {}, {}, {}};
    const Device& device = use.device;
    if (device.memory_bytes > 0) planned.holds_memory = plan.memory.bytes <= device.memory_bytes;
    if (plan.tokens > 0) planned.hours = training_hours(use, plan.flops());
    if (!usd_per_hour && device.price) usd_per_hour = device.price->usd_per_hour;
    if (planned.hours && usd_per_hour)
        planned.dollars = static_cast<double>(use.devices) * *planned.hours * *usd_per_hour;
    return planned;
}

namespace {

std::vector<engine::OpRecord> record_step(const PresetPlan& plan) {
    const engine::StepBench bench{plan.model, plan.settings.micro_batch_size};
    return engine::record_first_step(engine::trainer_config_of(bench), engine::blank_training_data(plan.model),
                                     plan.settings.dtype);
}

PresetPrediction predict(const PresetOnDevice& row, const PresetPlan& plan, const std::vector<engine::OpRecord>& step) {
    PresetPrediction predicted;
    predicted.card = card_of_device(row.use.device);
    predicted.step_seconds = engine::predicted_seconds(step, predicted.card, plan.settings.dtype);
    const auto samples = static_cast<double>(row.use.devices * plan.settings.micro_batch_size);
    predicted.tokens_per_second = samples * static_cast<double>(plan.model.max_seqlen) / predicted.step_seconds;
    if (plan.tokens > 0) predicted.hours = static_cast<double>(plan.tokens) / predicted.tokens_per_second / 3600;
    return predicted;
}

}  // namespace

void add_predictions(std::vector<PresetOnDevice>& rows, const PresetPlan& plan) {
    std::vector<engine::OpRecord> step;
    for (PresetOnDevice& row : rows) {
        row.lacks_prediction = lacks_rates(row.use.device, plan.settings.dtype);
        if (row.lacks_prediction.empty()) row.lacks_prediction = lacks_room(plan.memory.bytes);
        if (!row.lacks_prediction.empty()) continue;
        try {
            if (step.empty()) step = record_step(plan);
            row.predicted = predict(row, plan, step);
        } catch (const Error& error) {  // of addresses, where the process may not have as many
            row.lacks_prediction = first_line(error.what());
        }
    }
}

}  // namespace deft::experiments
