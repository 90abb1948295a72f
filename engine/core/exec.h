#pragma once
// Where and how ops run: one value handed to every op.

#include "engine/core/arena.h"
#include "kernels/cpu/exec.h"
#include "kernels/reference/exec.h"

namespace deft::engine {

enum class Device { cpu };

struct Exec {
    Device device = Device::cpu;
    kernels::cpu::Exec cpu;              // f32
    kernels::reference::Exec reference;  // f64: the specification, run as a backend by tests
};

// An Exec on this many threads with the arena's workspace.
Exec make_cpu_exec(int threads, const Arena& arena);

}  // namespace deft::engine
