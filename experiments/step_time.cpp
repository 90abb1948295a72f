#include "experiments/step_time.h"

#include <fmt/format.h>

namespace deft::experiments {

namespace {

std::string lacks_path(const Device& device, std::int64_t devices) {
    if (devices <= 1 || path_between(device, devices)) return {};
    if (!device.machine)
        return fmt::format(
            "{0} has no [\"{0}\".machine] in experiments/hardware.toml, which says how many share a machine and"
            " what joins machines",
            device.name);
    return fmt::format(
        "{0} has no [[\"{0}\".link]] in experiments/hardware.toml, which says what joins the {1} of a machine",
        device.name, device.machine->devices);
}

double update_bytes(const CommunicationPlan& plan, std::int64_t zero) {
    const RankMemory& memory = plan.memory.at(static_cast<std::size_t>(zero));
    const double moments = static_cast<double>(memory.moments);
    const double share = moments / static_cast<double>(plan.memory[0].moments);
    return share * static_cast<double>(memory.gradients + 2 * memory.weights) + 2 * moments;
}

}  // namespace

std::optional<NetworkPath> path_between(const Device& device, std::int64_t devices) {
    if (!device.machine) return {};
    const DeviceMachine& machine = *device.machine;
    if (devices > machine.devices)
        return NetworkPath{fmt::format("{} between {}", machine.network, machine.name), machine.bytes_per_second,
                           machine.source};
    if (device.links.empty()) return {};
    const DeviceLink& link = device.links.front();
    return NetworkPath{link.name, link.bytes_per_second, link.source};
}

std::string lacks_bandwidth(const Device& device, std::int64_t devices, std::int64_t expert_ranks) {
    for (const std::int64_t joined : {devices, expert_ranks})
        if (std::string lack = lacks_path(device, joined); !lack.empty()) return lack;
    if (device.memory_bytes_per_second > 0) return {};
    return fmt::format("{} has no memory_bytes_per_second in experiments/hardware.toml", device.name);
}

BesideCompute beside_compute(const Device& device, const CommunicationPlan& plan, std::int64_t zero) {
    const auto seconds = [&](std::int64_t bytes, std::int64_t devices) {
        return devices > 1 ? static_cast<double>(bytes) / path_between(device, devices)->bytes_per_second : 0.0;
    };
    const RankTraffic& sent = plan.traffic;
    BesideCompute beside;
    beside.rows = seconds(sent.rows_to_experts + sent.rows_back, plan.expert_ranks);
    beside.gradients = seconds(sent.gradients_reduced + sent.gathered + sent.sums, plan.ranks);
    beside.update = update_bytes(plan, zero) / device.memory_bytes_per_second;
    return beside;
}

}  // namespace deft::experiments
