#pragma once
// Where and how ops run: one value handed to every op.

#include <memory>

#include "engine/core/arena.h"
#include "engine/core/backend.h"
#include "kernels/cpu/exec.h"
#include "kernels/cuda/exec.h"
#include "kernels/reference/exec.h"

namespace deft::engine {

class OpProfile;

struct Exec {
    Device device = Device::cpu;
    kernels::cpu::Exec cpu;              // f32
    kernels::cuda::Exec cuda;            // f32, bf16
    kernels::reference::Exec reference;  // f64: the specification, run as a backend by tests
    DeviceContext context;               // what `cuda` points into
    OpProfile* profile = nullptr;              // what each op takes is added here, see op_profile.h
};

// An Exec on the arena's device, with its workspace. The arena is committed.
Exec make_exec(const Backend& backend, const Arena& arena);

}  // namespace deft::engine
