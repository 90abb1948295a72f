// The emulated device: one, whose memory is the host's. Memory comes from malloc alone, so that a sanitizer sees a
// kernel's access past its end.

#include "kernels/cuda/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace deft::kernels::cuda {

std::string unusable_reason() {
    return {};
}

std::vector<DeviceInfo> devices() {
    const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    return {{.name = "emulated",
             .uuid = "GPU-emulated",
             .memory_bytes = page * sysconf(_SC_PHYS_PAGES)}};
}

Context::Context(int device) {
    if (device != 0)
        throw Error(ErrorKind::missing, fmt::format("there is no device {}: the emulated one is number 0", device));
}

Context::~Context() = default;

void* allocate(std::size_t bytes) {
    constexpr std::size_t kAlignment = 256;
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, std::max<std::size_t>(bytes, 1)) != 0)
        throw Error(ErrorKind::memory, fmt::format("no memory for {} bytes of the emulated device", bytes));
    std::memset(memory, 0, bytes);
    return memory;
}

void release(void* memory) {
    std::free(memory);
}

void* allocate_pinned(std::size_t bytes) {
    return allocate(bytes);
}

void release_pinned(void* memory) {
    std::free(memory);
}

void copy_to_device(Exec&, void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void copy_to_host(Exec&, void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void synchronise(Exec&) {}

}  // namespace deft::kernels::cuda
