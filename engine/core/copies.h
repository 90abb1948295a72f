#pragma once
// Between the host's memory and a backend's. On the CPU they are one, and a copy is a copy.

#include <cstdint>
#include <vector>

#include "engine/core/exec.h"
#include "engine/core/tensor.h"

namespace deft::engine {

// to = from, to.bytes() of them, in the order of the ops; staging memory must stay as it is until the next wait.
void write_tensor(Exec& exec, const Tensor& to, const void* from);
// to = from; returns when it is there, after all ops before. Errors: device, for an op that failed.
void read_tensor(Exec& exec, void* to, const Tensor& from);

// A copy of the tensor's elements, which must be of that type.
template <class T>
std::vector<T> host_copy(Exec& exec, const Tensor& tensor) {
    std::vector<T> values(static_cast<std::size_t>(tensor.numel()));
    tensor.as<T>();
    read_tensor(exec, values.data(), tensor);
    return values;
}

}  // namespace deft::engine
