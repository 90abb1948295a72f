#pragma once
// Time of a step on several devices beside its products: bytes between them and in their memory, over the rates that
// experiments/hardware.toml states. Nothing is assumed to overlap, and no message to have a latency.

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/communication.h"
#include "experiments/hardware.h"

namespace deft::experiments {

// The slowest part of the way between neighbouring devices.
struct NetworkPath {
    std::string name;             // "NVLink", or the network of a machine
    double bytes_per_second = 0;  // of one device, in one direction
    std::string source;
};

// The link between this many neighbouring devices: the first link within one machine, otherwise the machines' network.
// Nothing where the device states neither.
std::optional<NetworkPath> path_between(const Device& device, std::int64_t devices);

// Seconds of the average step.
struct BesideCompute {
    double rows = 0;       // to experts and back
    double gradients = 0;  // reduced and gathered, and the sums
    double update = 0;     // of the weights, which their memory bounds

    double seconds() const { return rows + gradients + update; }
};

// Why beside_compute() has no number for this many devices; empty: it has one.
std::string lacks_bandwidth(const Device& device, std::int64_t devices, std::int64_t expert_ranks);

// All bytes that leave a rank take the slowest part of the way. The update reads gradients, weights and moments, and
// writes the latter two; with zero = 1 a rank updates its share. Needs lacks_bandwidth() to be empty.
BesideCompute beside_compute(const Device& device, const CommunicationPlan& plan, std::int64_t zero);

}  // namespace deft::experiments
