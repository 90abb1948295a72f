#include "engine/core/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include "base/error.h"
#include "kernels/cuda/runtime.h"

namespace deft::engine {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kHeader = 4096;  // holds the mapping's size, and keeps what follows aligned

void unmap(void* memory) {
    char* const block = static_cast<char*>(memory) - kHeader;
    munmap(block, *reinterpret_cast<std::size_t*>(block));
}

// Without a device the plan may exceed the machine's memory: most of its pages stay untouched.
Memory map_host(Device device, std::size_t bytes) {
    const bool is_untouched = device == Device::none;
    const std::size_t mapped = ((bytes + kHeader) / kHugePage + 1) * kHugePage;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (is_untouched ? MAP_NORESERVE : 0);
    void* block = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (block == MAP_FAILED)
        throw Error(
            ErrorKind::memory, fmt::format("cannot allocate {:.1f} MiB", static_cast<double>(bytes) / (1 << 20)),
            "lower train.micro_batch_size, model.seqlen or model.width (`deft plan --memory` shows each buffer)");
    if (!is_untouched) madvise(block, mapped, MADV_HUGEPAGE);
    *static_cast<std::size_t*>(block) = mapped;
    return {static_cast<char*>(block) + kHeader, unmap};
}

}  // namespace

DeviceContext open_device(Device device) {
    if constexpr (kernels::cuda::kBuilt)
        if (device == Device::cuda) return std::make_shared<const kernels::cuda::Context>();
    return nullptr;
}

Memory allocate(Device device, std::size_t bytes) {
    if constexpr (kernels::cuda::kBuilt)
        if (device == Device::cuda)
            return {kernels::cuda::allocate(bytes, "a model and its step"), kernels::cuda::release};
    return map_host(device, bytes);
}

Memory allocate_staging(Device device, std::size_t bytes) {
    if constexpr (kernels::cuda::kBuilt)
        if (device == Device::cuda)
            return {kernels::cuda::allocate_pinned(bytes, "samples on their way"), kernels::cuda::release_pinned};
    return map_host(device, bytes);
}

}  // namespace deft::engine
