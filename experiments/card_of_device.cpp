#include "experiments/card_of_device.h"

#include <fmt/format.h>

namespace deft::experiments {

namespace {

constexpr const char* kFile = "experiments/hardware.toml";

// The peak of dense 16-bit tensor cores; null where the device states none.
const DevicePeak* tensor_peak(const Device& device) {
    const DevicePeak* bf16 = device.find_peak("bf16");
    return bf16 == nullptr ? device.find_peak("fp16") : bf16;
}

// Names of the same card in the step model and in experiments/hardware.toml.
std::string name_in_step_model(const std::string& device) {
    return device == "H100-SXM" ? "H100" : device;
}

}  // namespace

engine::DType activations_of_peak(const std::string& dtype) {
    return dtype == "fp16" || dtype == "bf16" ? engine::DType::bf16 : engine::DType::f32;
}

std::string lacks_rates(const Device& device, engine::DType dtype) {
    if (device.memory_bytes_per_second == 0)
        return fmt::format("{} has no memory_bytes_per_second in {}", device.name, kFile);
    if (device.find_peak("fp32") == nullptr) return fmt::format("{} has no peak in fp32 in {}", device.name, kFile);
    if (dtype == engine::DType::bf16 && tensor_peak(device) == nullptr)
        return fmt::format("{} has no peak in bf16 or fp16 in {}", device.name, kFile);
    return {};
}

engine::CardModel card_of_device(const Device& device) {
    for (const engine::CardModel& card : engine::card_models())
        if (card.name == name_in_step_model(device.name)) return card;
    engine::DataSheet sheet;
    sheet.name = device.name;
    if (const DevicePeak* peak = tensor_peak(device)) {
        sheet.dtype = peak->dtype;
        sheet.tensor_flops = peak->flops;
    }
    sheet.f32_flops = device.find_peak("fp32")->flops;
    sheet.memory_bytes = device.memory_bytes_per_second;
    return engine::card_of_data_sheet(sheet);
}

}  // namespace deft::experiments
