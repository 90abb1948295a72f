// The emulated device: one, whose memory is the host's.

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/stopwatch.h"
#include "kernels/cuda/emulator/allocations.h"
#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/stream.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/runtime.h"

namespace deft::kernels::cuda {

namespace {

std::atomic<int> contexts = 0;  // that live

}  // namespace

Versions versions() {
    return {"emulated", "emulated", "emulated"};
}

std::string unusable_reason() {
    return {};
}

// As many as the variable says: each process has one of them to itself, and their memory is one.
std::vector<DeviceInfo> devices() {
    const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    const std::int64_t memory = page * sysconf(_SC_PHYS_PAGES);
    std::vector<DeviceInfo> all = {{.name = "emulated", .uuid = "GPU-emulated", .memory_bytes = memory}};
    if (const char* const count = std::getenv("DEFT_EMULATED_DEVICES"))
        for (int i = 1; i < std::atoi(count); ++i)
            all.push_back({.name = "emulated", .uuid = fmt::format("GPU-emulated-{}", i), .memory_bytes = memory});
    return all;
}

Context::Context(int device) {
    if (device != 0)
        throw Error(ErrorKind::missing, fmt::format("no device {}: the emulated device has number 0", device));
    std::optional<ProductTable> table = chosen_product_table(devices().front().name, versions().library);
    exec_.stream = emulator::new_stream();
    exec_.products = new Products{ProductPlans(std::move(table)), {}};
    ++contexts;
    exec_.counters = {static_cast<std::uint32_t*>(allocate(kCounters * sizeof(std::uint32_t), "counters of blocks")),
                      kCounters};
}

Context::~Context() {
    release(exec_.counters.data());
    --contexts;
    delete exec_.products;
    emulator::delete_stream(exec_.stream);
}

bool faults_past_end() {
    return true;
}

void* allocate(std::size_t bytes, const char* name) {
    // A real device would take the memory of whichever it has as number 0.
    if (contexts == 0) throw std::logic_error(std::string("no Context has chosen the device for ") + name);
    return emulator::allocations().add(bytes, name);
}

void release(void* memory) {
    emulator::allocations().remove(memory);
}

void* allocate_pinned(std::size_t bytes, const char* name) {
    return allocate(bytes, name);
}

void release_pinned(void* memory) {
    release(memory);
}

void copy_to_device(Exec& exec, void* to, const void* from, std::size_t bytes) {
    emulator::refuse_while_recording(exec.stream, "a copy from the host");
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void copy_to_host(Exec& exec, void* to, const void* from, std::size_t bytes) {
    emulator::refuse_while_recording(exec.stream, "a copy to the host");
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void start_copy_to_host(Exec& exec, void* to, const void* from, std::size_t bytes) {
    copy_to_host(exec, to, from, bytes);
}

void synchronise(Exec& exec) {
    emulator::refuse_while_recording(exec.stream, "a wait");
}

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

void Event::wait() const {}

double seconds_between(const Event& first, const Event& last) {
    return time_of(last.event_) - time_of(first.event_);
}

std::int64_t l2_cache_bytes() {
    return emulator::kCacheBytes;
}

void copy_on_device(Exec& exec, void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    emulator::submit(exec.stream,
                     {.name = "copy",
                      .arguments = {emulator::bytes_of(to), emulator::bytes_of(from), emulator::bytes_of(bytes)},
                      .run = [=] { std::memcpy(to, from, bytes); }});
}

void fill_bytes(Exec& exec, void* memory, unsigned char value, std::size_t bytes) {
    if (bytes == 0) return;
    emulator::submit(exec.stream,
                     {.name = "fill",
                      .arguments = {emulator::bytes_of(memory), emulator::bytes_of(value), emulator::bytes_of(bytes)},
                      .run = [=] { std::memset(memory, value, bytes); }});
}

}  // namespace deft::kernels::cuda
