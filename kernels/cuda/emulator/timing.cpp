// The emulated device's clock, cache size and copies. Nothing runs behind the host's back: an event is a time.

#include "kernels/cuda/timing.h"

#include <cstring>
#include <functional>

#include "base/stopwatch.h"
#include "kernels/cuda/emulator/emulator.h"

namespace deft::kernels::cuda {

namespace {

// One, as there is one device.
std::function<double()>& test_clock() {
    static std::function<double()> clock;
    return clock;
}

double device_seconds() {
    if (test_clock()) return test_clock()();
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double time_of(const void* event) {
    return *static_cast<const double*>(event);
}

}  // namespace

namespace emulator {

void set_clock(std::function<double()> seconds) {
    test_clock() = std::move(seconds);
}

}  // namespace emulator

Event::Event() : event_(new double(0)) {}

Event::~Event() {
    delete static_cast<double*>(event_);
}

void Event::record(Exec&) {
    *static_cast<double*>(event_) = device_seconds();
}

double seconds_between(const Event& first, const Event& last) {
    return time_of(last.event_) - time_of(first.event_);
}

std::int64_t l2_cache_bytes() {
    return emulator::kCacheBytes;
}

void copy_on_device(Exec&, void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void fill_bytes(Exec&, void* memory, unsigned char value, std::size_t bytes) {
    if (bytes != 0) std::memset(memory, value, bytes);
}

}  // namespace deft::kernels::cuda
