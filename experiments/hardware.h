#pragma once
// The devices that are known by name, with the peaks their vendors state: experiments/hardware.toml.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace deft::experiments {

struct DevicePeak {
    std::string dtype;  // fp16 | bf16 | tf32 | fp32 | fp64
    double flops = 0;   // FLOP/s, dense
};

// The interconnect of a device.
struct DeviceLink {
    std::string name;             // "NVLink"
    double bytes_per_second = 0;  // of one device, in one direction
    std::string source;
};

// A machine that its vendor sells with the device, and what joins such machines.
struct DeviceMachine {
    std::string name;             // "DGX A100"
    std::int64_t devices = 0;     // in one machine
    std::string network;          // "InfiniBand HDR, a port of 200 Gb/s a device"
    double bytes_per_second = 0;  // to other machines, of one device's share, in one direction
    std::string source;
};

// A published price per hour of one device.
struct DevicePrice {
    double usd_per_hour = 0;
    std::string date;  // "2025-01-31"
    std::string source;
};

struct Device {
    std::string name;
    std::string vendor, title, source;
    std::int64_t memory_bytes = 0;       // 0: not stated
    double memory_bytes_per_second = 0;  // 0: not stated
    std::vector<DevicePeak> peaks;       // the first is what plans take; empty: must be measured
    std::vector<DeviceLink> links;       // within a machine; empty: not stated
    std::optional<DeviceMachine> machine;
    std::optional<DevicePrice> price;

    // Null where the device states none of that dtype.
    const DevicePeak* find_peak(const std::string& dtype) const;
};

// In the file's order. Errors: io; config (strict, with the place).
std::vector<Device> load_devices();
std::vector<Device> parse_devices(const std::filesystem::path& file);

// The device of that name. `place`: where the name stood. Errors: config, with the nearest name.
Device device_named(const std::string& name, const Place& place);

// Time for a number of FLOPs on a number of devices.

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
