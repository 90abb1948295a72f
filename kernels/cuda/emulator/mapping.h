#pragma once
// Memory straight from the kernel: zero pages that cost nothing until touched. To ThreadSanitizer it is new each time.

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace deft::kernels::cuda::emulator {

inline constexpr std::size_t kPage = 4096;

class Mapping {
 public:
    explicit Mapping(std::size_t bytes) : bytes_(bytes) {
        void* const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        memory_ = static_cast<std::byte*>(memory);
    }
    ~Mapping() {
        if (memory_ != nullptr) munmap(memory_, bytes_);
    }
    Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
    Mapping& operator=(Mapping&&) = delete;

    std::byte* data() const { return memory_; }
    std::size_t size() const { return bytes_; }
    // Any access to these whole pages is a fault from here on.
    void forbid(std::size_t offset, std::size_t bytes) { mprotect(memory_ + offset, bytes, PROT_NONE); }

 private:
    std::byte* memory_ = nullptr;
    std::size_t bytes_;
};

}  // namespace deft::kernels::cuda::emulator
