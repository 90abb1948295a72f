#pragma once
// deft plan --preset: what training a model by name would take, on every listed device or on one.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace deft::cli {

// The share of the peak that the published 260 hours of GPT-3 1.3B on 64 V100 come to; see sweeps/gpt_combined.toml.
inline constexpr double kPublishedUtilisation = 0.34;

struct PresetPlanArguments {
    std::string preset;            // empty: a sweep is planned
    std::string hardware;          // empty: all listed devices
    std::string dtype;             // empty: bf16, on a CPU f32
    std::int64_t micro_batch = 1;  // samples
    std::string tokens;            // empty: the paper's
    std::int64_t vocab = 0;        // 0: the paper's
    std::int64_t devices = 1;
    double utilisation = kPublishedUtilisation;
    std::optional<double> usd_per_hour;

    // Options that mean nothing without --preset, which is refused beside those of a sweep.
    void add_to(CLI::App& command);
};

// Prints tables or, with `json`, JSON alone (schema deft-preset-plan/1). every_buffer: each on its own, not those of
// equal blocks together. Errors: config or usage, for what makes no sense.
void print_preset_plan(const PresetPlanArguments& arguments, bool every_buffer, bool json);

}  // namespace deft::cli
