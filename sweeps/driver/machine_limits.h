#pragma once
// Warnings that a sweep would take more of this machine than it has. They are printed before anything runs, and stop
// nothing.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sweeps/driver/slots.h"
#include "sweeps/spec/expand.h"

namespace deft::sweeps {

struct Machine {
    std::int64_t memory_bytes = 0;
    std::int64_t free_disk_bytes = 0;  // 0: unknown
};
// This one; the disk is that of `root`, or of the nearest folder above it that is there.
Machine this_machine(const std::filesystem::path& root);

// Bytes that a sweep keeps in the end: the weights and moments of each training, which several trials may share.
std::int64_t checkpoint_bytes(const std::vector<Trial>& trials);

// A sentence for each limit that these trials exceed, `at_once` of them side by side in slots of that kind: buffers of
// all their ranks against memory, on the CPU (slots know their GPU's, see require_fit()), and checkpoints against the
// free disk.
std::vector<std::string> exceeded_limits(const std::vector<Trial>& trials, const Slot& slot, std::size_t at_once,
                                         const Machine& machine, const std::filesystem::path& root);

}  // namespace deft::sweeps
