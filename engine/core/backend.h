#pragma once
// Where a model computes, and in which type.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/core/tensor.h"

namespace deft::engine {

// none: each op checks its shapes and is recorded, and computes nothing. Its buffers hold what was copied into them,
// else zeros; untouched ones take no memory.
enum class Device { cpu, cuda, none };
const char* device_name(Device device);  // "cpu", "cuda", "none"

struct Backend {
    Device device = Device::cpu;
    DType dtype = DType::f32;  // of activations; cpu: f32 (and f64, the specification); cuda: f32, bf16
    int threads = 1;           // of the CPU
};

// A GPU that this process could use.
struct Gpu {
    std::string name;  // "NVIDIA H200"
    std::string uuid;  // as CUDA_VISIBLE_DEVICES takes it
    std::int64_t memory_bytes = 0;
};
std::vector<Gpu> usable_gpus();
// CUDA's driver, its runtime, the library of matrix products, and the table of timed products where one is chosen, by
// name; empty in a build without CUDA.
std::map<std::string, std::string> gpu_versions();
// Why there is none, in words for a user; empty where there is one.
std::string gpu_problem();

// Device::none takes what the cuda backend takes. Errors: config, for a dtype or a head size that the backend lacks,
// whether or not its device is here.
void require_supported(const Backend& backend, std::int64_t head_size);
// Errors: as above; missing, for a device that this build or machine lacks.
void require_backend(const Backend& backend, std::int64_t head_size);

}  // namespace deft::engine
