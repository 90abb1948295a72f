#pragma once
// Runs an op case on a CUDA device, real or emulated, as run.h does on the host.

#include "kernels/cases/run.h"
#include "kernels/cuda/memory.h"

namespace deft::kernels::cases {

// A copy on the device of guarded bytes of the host.
class DeviceBytes {
 public:
    DeviceBytes(cuda::Exec& exec, GuardedBytes& host) : exec_(exec), host_(host) {
        memory_.reset(cuda::allocate(host.whole().size()));
        cuda::copy_to_device(exec, memory_.get(), host.whole().data(), host.whole().size());
    }
    void* data() const { return static_cast<std::byte*>(memory_.get()) + host_.offset(); }
    void copy_back() { cuda::copy_to_host(exec_, host_.whole().data(), memory_.get(), host_.whole().size()); }

 private:
    struct Release {
        void operator()(void* memory) const { cuda::release(memory); }
    };
    cuda::Exec& exec_;
    GuardedBytes& host_;
    std::unique_ptr<void, Release> memory_;
};

// shift_items: how many items past a 256-byte boundary every buffer begins.
template <class Real>
RunResult run_on_cuda(cuda::Exec exec, const OpCase& op,
                      const std::function<void(cuda::Exec&, const Arguments<Real>&)>& run, std::size_t shift_items) {
    std::vector<GuardedBytes> buffers;
    for (const Buffer& buffer : op.buffers) buffers.push_back(store_buffer<Real>(buffer, shift_items));
    GuardedBytes workspace(op.cuda_workspace());
    std::vector<DeviceBytes> on_device;
    std::vector<void*> data;
    for (GuardedBytes& buffer : buffers) data.push_back(on_device.emplace_back(exec, buffer).data());
    DeviceBytes device_workspace(exec, workspace);
    exec.workspace = {static_cast<std::byte*>(device_workspace.data()), workspace.size()};
    run(exec, Arguments<Real>(op.buffers, data));
    for (DeviceBytes& buffer : on_device) buffer.copy_back();
    device_workspace.copy_back();
    return read_result<Real>(op, buffers, workspace);
}

inline RunResult run_cuda_f32(const cuda::Exec& exec, const OpCase& op, std::size_t shift_items = 0) {
    return run_on_cuda<float>(exec, op, op.cuda_f32, shift_items);
}
inline RunResult run_cuda_bf16(const cuda::Exec& exec, const OpCase& op, std::size_t shift_items = 0) {
    return run_on_cuda<bf16>(exec, op, op.cuda_bf16, shift_items);
}

// The case with its activations and weights rounded to bf16, so that every backend starts from the same values.
inline OpCase rounded_to_bf16(OpCase op) {
    for (Buffer& buffer : op.buffers)
        for (std::size_t i = 0; buffer.item == Item::real && i < buffer.value.size(); ++i)
            buffer.value[i] = to_float(to_bf16(buffer.value[i]));
    return op;
}

// The error that a buffer may have in a run whose activations are bf16.
inline double bf16_tolerance(const OpCase& op, const Buffer& buffer) {
    if (buffer.item != Item::real && !buffer.of_rounded) return float_tolerance(op, buffer);
    const double error = op.roundings / 256.0;
    return std::max(op.tolerance, error * error);
}
// Its least mean square (see Buffer::floor): a sum of values of order 1 may cancel to less.
inline double bf16_floor(const Buffer& buffer) {
    return buffer.item == Item::real ? std::max(buffer.floor, 1.0) : buffer.floor;
}

}  // namespace deft::kernels::cases
