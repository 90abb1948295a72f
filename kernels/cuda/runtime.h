#pragma once
// Devices and their memory. In the emulator there is one device, and its memory is the host's.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

struct DeviceInfo {
    std::string name;  // "NVIDIA H200"
    std::string uuid;  // "GPU-8f1c..." as nvidia-smi prints it
    std::int64_t memory_bytes = 0;
};

// Why no device can be used, in words for a user ("the driver supports CUDA 12.2, this build needs 13.0: update the
// driver"), empty when one can.
std::string unusable_reason();
// Visible devices that can be used (CUDA_VISIBLE_DEVICES is heeded). Only asks: leaves no process on any of them.
std::vector<DeviceInfo> devices();

// One device's stream, library handle, library workspace and counters. Errors: missing, when no device can be used.
inline constexpr std::size_t kCounters = 1 << 14;  // of blocks (Exec::counters)
class Context {
 public:
    explicit Context(int device = 0);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    Exec exec() const { return exec_; }

 private:
    Exec exec_;
};

// Device memory, 256-byte aligned, zero at first; a Context has chosen the device before. Errors: memory, with the name
// and the bytes asked and free.
void* allocate(std::size_t bytes, const char* name = "memory");
void release(void* memory);
struct ReleaseMemory {
    void operator()(void* memory) const { release(memory); }
};
using DeviceMemory = std::unique_ptr<void, ReleaseMemory>;
// Page-locked host memory, zero at first: copies from it do not wait for the device.
void* allocate_pinned(std::size_t bytes, const char* name = "page-locked memory");
void release_pinned(void* memory);
// Whether an access past an allocation, whose bytes are a multiple of 256, is a fault at once. Elsewhere other
// allocations may follow.
bool faults_past_end();

// In stream order. `from` must stay as it is until the stream has passed here, unless it is pageable.
void copy_to_device(Exec&, void* to, const void* from, std::size_t bytes);
// Returns when the copy is there. Errors: device, for a launch or memory fault since the last wait.
void copy_to_host(Exec&, void* to, const void* from, std::size_t bytes);
// In stream order, to page-locked memory, which an Event recorded after it shows to be written.
void start_copy_to_host(Exec&, void* to, const void* from, std::size_t bytes);
// Waits for the stream. Errors: as above.
void synchronise(Exec&);

// Functions of a device that benchmarks need beside its kernels: a clock in the stream, the size of its cache, and work
// that stays on it. In the emulator the clock is the host's, unless a test sets another.

// A point in a stream. Errors: device, of every call.
class Event {
 public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    // After what the stream was given so far.
    void record(Exec&);
    // Returns when the stream has passed the last record(). Errors: also for a fault since the last wait.
    void wait() const;
    friend double seconds_between(const Event& first, const Event& last);

 private:
    void* event_ = nullptr;  // cudaEvent_t
};

// Elapsed time on the device's own clock, with a resolution of half a microsecond. Waits until the stream has passed
// both. Errors: device, also for a fault since the last wait.
double seconds_between(const Event& first, const Event& last);

// Cache size of the device that the last Context opened.
std::int64_t l2_cache_bytes();

// In stream order. Errors: device.
void copy_on_device(Exec&, void* to, const void* from, std::size_t bytes);
void fill_bytes(Exec&, void* memory, unsigned char value, std::size_t bytes);

// Software that the device's results depend on beside our own kernels.

struct Versions {
    std::string driver;   // "13.0": the newest CUDA that it serves
    std::string runtime;  // "13.0"
    std::string library;  // cuBLASLt: "13.0.2"
};

// Asks without opening a device; a driver that is not there is "0.0".
Versions versions();

}  // namespace deft::kernels::cuda
