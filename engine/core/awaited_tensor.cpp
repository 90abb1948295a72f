#include "engine/core/awaited_tensor.h"

#include <cstring>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/runtime.h"

namespace deft::engine {

AwaitedTensor::AwaitedTensor(Device device, std::int64_t bytes)
    : bytes_(allocate_staging(device, static_cast<std::size_t>(bytes))) {
    if constexpr (kernels::cuda::kBuilt)
        if (device == Device::cuda) arrival_ = std::make_shared<kernels::cuda::Event>();
}

void AwaitedTensor::start(Exec& exec, const Tensor& from) {
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda) {
            kernels::cuda::start_copy_to_host(exec.cuda, bytes_.get(), from.data,
                                              static_cast<std::size_t>(from.bytes()));
            return arrival_->record(exec.cuda);
        }
    std::memcpy(bytes_.get(), from.data, static_cast<std::size_t>(from.bytes()));
}

const void* AwaitedTensor::wait() const {
    if constexpr (kernels::cuda::kBuilt)
        if (arrival_) arrival_->wait();
    return bytes_.get();
}

}  // namespace deft::engine
