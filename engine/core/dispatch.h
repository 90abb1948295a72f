#pragma once
// The one dispatch point: (device, dtype) becomes code here and nowhere else. Argument-dependent lookup finds the
// kernel by the Exec of its backend. An op that a backend neither declares nor defines does not build.

#include <stdexcept>

#include "engine/core/exec.h"
#include "engine/core/tensor.h"

namespace deft::engine {

template <class T>
struct TypeTag {
    using type = T;
};

// Calls f(backend_exec, TypeTag<T>{}); in a dry run, and on Device::none, nothing.
template <class F>
void dispatch(Exec& exec, DType dtype, F&& f) {
    if (exec.planned != nullptr || exec.device == Device::none) return;
    if (exec.device == Device::cpu) {
        if (dtype == DType::f32) return f(exec.cpu, TypeTag<float>{});
        if (dtype == DType::f64) return f(exec.reference, TypeTag<double>{});
    }
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda) {
            if (dtype == DType::f32) return f(exec.cuda, TypeTag<float>{});
            if (dtype == DType::bf16) return f(exec.cuda, TypeTag<kernels::bf16>{});
        }
    throw std::logic_error(std::string("no kernel for ") + device_name(exec.device) + " " + dtype_name(dtype));
}

}  // namespace deft::engine
