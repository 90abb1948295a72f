#pragma once
// What benchmarks need of a device beside its kernels: a clock in the stream, the size of its cache, and work that
// stays on it. In the emulator the clock is the host's, unless a test sets another.

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

// A point in a stream. Errors: device, of every call.
class Event {
 public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    // Behind what the stream was given so far.
    void record(Exec&);
    friend double seconds_between(const Event& first, const Event& last);

 private:
    void* event_ = nullptr;  // cudaEvent_t
};

// By the device's own clock, whose steps are half a microsecond. Waits until the stream has passed both. Errors:
// device, also for a fault since the last wait.
double seconds_between(const Event& first, const Event& last);

// Of the device that the last Context opened.
std::int64_t l2_cache_bytes();

// In stream order. Errors: device.
void copy_on_device(Exec&, void* to, const void* from, std::size_t bytes);
void fill_bytes(Exec&, void* memory, unsigned char value, std::size_t bytes);

}  // namespace deft::kernels::cuda
