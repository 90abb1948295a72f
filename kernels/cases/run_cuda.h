#pragma once
// Runs an op case on a CUDA device, real or emulated, as run.h does on the host.

#include "kernels/cases/run.h"
#include "kernels/cuda/runtime.h"

namespace deft::kernels::cases {

// A copy on the device of guarded bytes of the host.
class DeviceBytes {
 public:
    DeviceBytes(cuda::Exec& exec, GuardedBytes& host, const std::string& name) : exec_(exec), host_(host) {
        memory_.reset(cuda::allocate(host.whole().size(), name.c_str()));
        cuda::copy_to_device(exec, memory_.get(), host.whole().data(), host.whole().size());
    }
    void* data() const { return static_cast<std::byte*>(memory_.get()) + host_.offset(); }
    void copy_back() { cuda::copy_to_host(exec_, host_.whole().data(), memory_.get(), host_.whole().size()); }

 private:
    cuda::Exec& exec_;
    GuardedBytes& host_;
    cuda::DeviceMemory memory_;
};

template <class Real>
RunResult run_on_cuda(cuda::Exec exec, const OpCase& op,
                      const std::function<void(cuda::Exec&, const Arguments<Real>&)>& run, Placement placement) {
    // Where a device faults past the end of an allocation, only alignment separates that end from the buffer.
    const std::size_t guard_behind = cuda::faults_past_end() ? 0 : GuardedBytes::kZone;
    std::vector<GuardedBytes> buffers;
    for (const Buffer& buffer : op.buffers) buffers.push_back(store_buffer<Real>(buffer, placement, guard_behind));
    GuardedBytes workspace(op.cuda_workspace(), 0, guard_behind);
    std::vector<DeviceBytes> on_device;
    std::vector<void*> data;
    for (std::size_t i = 0; i < buffers.size(); ++i)
        data.push_back(on_device.emplace_back(exec, buffers[i], op.buffers[i].name).data());
    DeviceBytes device_workspace(exec, workspace, "the workspace");
    exec.workspace = {static_cast<std::byte*>(device_workspace.data()), workspace.size()};
    run(exec, Arguments<Real>(op.buffers, data));
    for (DeviceBytes& buffer : on_device) buffer.copy_back();
    device_workspace.copy_back();
    return read_result<Real>(op, buffers, workspace);
}

enum class Activations { f32, bf16 };

// The case as a run with such activations begins: with activations and weights rounded to bf16, every backend starts
// from the same values.
inline OpCase as_stored(OpCase op, Activations type) {
    for (Buffer& buffer : op.buffers)
        for (std::size_t i = 0; type == Activations::bf16 && buffer.item == Item::real && i < buffer.value.size(); ++i)
            buffer.value[i] = to_float(to_bf16(buffer.value[i]));
    return op;
}

inline RunResult run_cuda(const cuda::Exec& exec, const OpCase& op, Activations type,
                          Placement placement = Placement::aligned) {
    return type == Activations::bf16 ? run_on_cuda<bf16>(exec, as_stored(op, type), op.cuda_bf16, placement)
                                     : run_on_cuda<float>(exec, op, op.cuda_f32, placement);
}

// The error that a buffer may have.
inline double tolerance_of(const OpCase& op, const Buffer& buffer, Activations type) {
    const bool is_rounded = type == Activations::bf16 && (buffer.item == Item::real || buffer.of_rounded);
    const double error = op.roundings / 256.0;
    return is_rounded ? std::max(op.tolerance, error * error) : float_tolerance(op, buffer);
}
// Its least mean square (see Buffer::floor): sums of rounded values of order 1 may cancel to less.
inline double floor_of(const Buffer& buffer, Activations type) {
    return type == Activations::bf16 && buffer.item == Item::real ? std::max(buffer.floor, 1.0) : buffer.floor;
}

// Describes the error in the result of a run; empty when there is none.
inline std::string disagreement(const OpCase& op, const RunResult& result, Activations type) {
    return disagreement(
        op, result, run_reference(as_stored(op, type)),
        [&](const Buffer& buffer) { return tolerance_of(op, buffer, type); },
        [&](const Buffer& buffer) { return floor_of(buffer, type); });
}
inline std::string disagreement(const cuda::Exec& exec, const OpCase& op, Activations type) {
    return disagreement(op, run_cuda(exec, op, type), type);
}

}  // namespace deft::kernels::cases
