#pragma once
// Where and how ops run: one value handed to every op.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/arena.h"
#include "engine/core/backend.h"
#include "engine/core/tensor.h"
#include "kernels/cpu/exec.h"
#include "kernels/cuda/exec.h"
#include "kernels/cuda/product.h"
#include "kernels/reference/exec.h"

namespace deft::engine {

class OpProfile;

struct Exec {
    Device device = Device::cpu;
    kernels::cpu::Exec cpu;              // f32
    kernels::cuda::Exec cuda;            // f32, bf16
    kernels::reference::Exec reference;  // f64: the specification, run as a backend by tests
    DeviceContext context;               // what `cuda` points into
    OpProfile* profile = nullptr;        // what each op takes is added here, see op_profile.h
    // A dry run: ops compute nothing, touch no memory, and list here the products that a GPU would be asked for.
    std::vector<kernels::cuda::ProductShape>* planned = nullptr;
};

// The type of a product's operands that are activations.
inline kernels::cuda::ProductType product_type_of(DType dtype) {
    return dtype == DType::bf16 ? kernels::cuda::ProductType::bf16 : kernels::cuda::ProductType::f32;
}

// An Exec on the arena's device, with its workspace. The arena is committed.
Exec make_exec(const Backend& backend, const Arena& arena);

// Copies between the host's memory and a backend's. On the CPU they are one, and a copy is a copy.

// to = from, to.bytes() of them, in the order of the ops; staging memory must stay as it is until the next wait.
void write_tensor(Exec& exec, const Tensor& to, const void* from);
// to = from; returns when it is there, after all ops before. Errors: device, for an op that failed.
void read_tensor(Exec& exec, void* to, const Tensor& from);

// The tensor's bytes where the host can read them: on the CPU where they are, otherwise a copy in `staging`, which is
// made as long as needed. Errors: as above.
const void* host_bytes(Exec& exec, const Tensor& tensor, std::vector<std::byte>& staging);

// A copy of the tensor's elements, which must be of that type.
template <class T>
std::vector<T> host_copy(Exec& exec, const Tensor& tensor) {
    std::vector<T> values(static_cast<std::size_t>(tensor.numel()));
    tensor.as<T>();
    read_tensor(exec, values.data(), tensor);
    return values;
}

}  // namespace deft::engine
