#pragma once
// A vector's copy on the device.

#include <memory>
#include <vector>

#include "kernels/cuda/runtime.h"

namespace deft::kernels::cuda {

template <class Item>
class DeviceArray {
 public:
    DeviceArray(const Exec& exec, const std::vector<Item>& values)
        : exec_(exec), size_(values.size()), memory_(allocate(size_ * sizeof(Item))) {
        copy_to_device(exec_, memory_.get(), values.data(), size_ * sizeof(Item));
    }
    Item* data() const { return static_cast<Item*>(memory_.get()); }
    std::vector<Item> values() {
        std::vector<Item> values(size_);
        copy_to_host(exec_, values.data(), memory_.get(), size_ * sizeof(Item));
        return values;
    }

 private:
    struct Release {
        void operator()(void* memory) const { release(memory); }
    };
    Exec exec_;
    std::size_t size_;
    std::unique_ptr<void, Release> memory_;
};

}  // namespace deft::kernels::cuda
