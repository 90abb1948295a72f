#include "experiments/cost.h"

namespace deft::experiments {

double DeviceUse::peak_flops() const {
    const DevicePeak* peak = device.find_peak(dtype);
    return peak == nullptr ? 0 : peak->flops;
}

std::optional<double> training_hours(const DeviceUse& use, double flops) {
    const double rate = static_cast<double>(use.devices) * use.peak_flops() * use.utilisation;
    if (!(rate > 0)) return {};
    return flops / rate / 3600;
}

}  // namespace deft::experiments
