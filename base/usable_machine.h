#pragma once
// The part of this machine that a process may use: a batch system or a container may give it less than there is.

#include <cstdint>
#include <filesystem>

#include "base/slurm.h"

namespace deft {

// Processors that the kernel lets this process run on.
int allowed_processors();

// Where the limits are read.
struct LimitSources {
    std::filesystem::path root = "/";  // of /proc and /sys
    slurm::Variables variables = slurm::own_variable;
    int processors = allowed_processors();
};

struct UsableAmount {
    std::int64_t amount = 0;
    const char* limit = "";  // that made it smaller than what the machine has for the process; empty: none
};

// The smallest of the processors that the kernel allows, Slurm's share and the control groups' quota, and at least one.
UsableAmount usable_cores(const LimitSources& sources);
int usable_cores();

// The smallest of the machine's memory, Slurm's share and the control groups' limit, in bytes.
UsableAmount usable_memory(const LimitSources& sources);
std::int64_t usable_memory();

}  // namespace deft
