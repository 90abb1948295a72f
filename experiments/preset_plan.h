#pragma once
// Requirements of training a preset on a device, counted from its sizes: nothing of the model is allocated.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/bench/step_model.h"
#include "engine/train/trainer.h"
#include "experiments/hardware.h"

namespace deft::experiments {

struct PresetPlanSettings {
    std::string preset;
    engine::Device device = engine::Device::cuda;
    engine::DType dtype = engine::DType::bf16;  // of activations
    std::int64_t micro_batch_size = 1;          // samples at once
    std::int64_t tokens = 0;                    // to train on; 0: as many as the preset's paper
    std::int64_t vocab = 0;                     // entries; 0: as many as the preset's paper
};

struct PresetPlan {
    PresetPlanSettings settings;
    engine::TransformerConfig model;  // without dropout, which changes none of these
    std::int64_t parameters = 0;
    std::int64_t active_parameters = 0;  // that one token meets
    double flops_per_token = 0;          // forward and backward, of a sample of full length
    std::int64_t tokens = 0;             // 0: nobody stated any
    std::string tokens_source;           // empty: they were asked for, or there are none
    engine::MemoryPlan memory;           // of a training step with AdamW

    double flops() const { return flops_per_token * static_cast<double>(tokens); }
};

// Errors: config, for an unknown preset, with the nearest one, for a dtype or head size that the device's backend
// lacks, or for buffers beyond kMostBufferBytes.
PresetPlan plan_preset(const PresetPlanSettings& settings);

// The peak that activations of that dtype are planned by: for bf16 the device's first, as sweeps take it, for f32 that
// of fp32, since the engine uses no TF32.
DeviceUse use_of(const Device& device, engine::DType dtype, std::int64_t devices, double utilisation);

// A step by the step model of engine/bench/step_model.h, with nothing between devices. Nothing is measured.
struct PresetPrediction {
    double step_seconds = 0;       // on each device
    double tokens_per_second = 0;  // of all devices
    std::optional<double> hours;   // of all tokens; nothing where nobody stated any
    engine::CardModel card;        // its rates, with their sources
};

// The plan on one device, or on this many in parallel.
struct PresetOnDevice {
    DeviceUse use;
    std::optional<bool> holds_memory;      // of one of them; nothing where its memory is not stated
    std::optional<double> hours, dollars;  // nothing where a factor is unknown
    std::optional<PresetPrediction> predicted;
    std::string lacks_prediction;  // why there is none; empty: there is one
};
// usd_per_hour: of one device; without it the device's published price.
PresetOnDevice plan_on_device(const PresetPlan& plan, const DeviceUse& use, std::optional<double> usd_per_hour);

// Adds the prediction of a step of micro_batch_size samples of full length on each device, with its update.
void add_predictions(std::vector<PresetOnDevice>& rows, const PresetPlan& plan);

}  // namespace deft::experiments
