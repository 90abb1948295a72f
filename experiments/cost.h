#pragma once
// What a number of FLOPs takes on a number of devices.

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/hardware.h"

namespace deft::experiments {

// The devices that a plan is made for.
struct DeviceUse {
    Device device;
    std::string dtype;  // of the peak that is taken; empty: the device states none
    std::int64_t devices = 1;
    double utilisation = 0;  // share of the peak that training reaches, one for all trials; 0: not stated

    double peak_flops() const;  // FLOP/s of one device; 0: unknown
};

// Hours from start to end: flops / (devices x peak x utilisation). Nothing where a factor is unknown.
std::optional<double> training_hours(const DeviceUse& use, double flops);

}  // namespace deft::experiments
