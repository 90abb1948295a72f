#pragma once
// One thing to time, whatever it is.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace deft::kernels {

inline constexpr const char* kCpu = "cpu";
inline constexpr const char* kCudaF32 = "cuda-f32";  // f32 activations, no TF32
inline constexpr const char* kCudaBf16 = "cuda-bf16";

enum class CacheState {
    hot,       // again on the same arguments
    cold,      // on arguments that no cache holds: others in turn, or after a flush of a device's cache
    rotating,  // of a device: copies of the arguments in turn, one run after another
};

// Consecutive runs, timed by the clock of their device.
struct DeviceInterval {
    double seconds = 0;  // of all
    std::int64_t runs = 1;
};

// Ready to run. The closures own what they need.
struct PreparedBench {
    double flops = 0, bytes = 0;  // work and least memory traffic of one run
    double footprint = 0;         // bytes of its arguments
    double items = 0;             // that one run works off, where FLOPs say nothing: tokens, samples, draws
    std::string item;             // what one of them is: "token"
    std::string note;             // what else there is to say of it
    std::string wrong;            // what the outputs of a first run have wrong; empty: they are right
    std::function<void()> hot;
    std::function<void()> cold;  // empty: not supported
    // Instead of those two, of a case on a device. In one state every interval has as many runs.
    std::function<DeviceInterval(CacheState)> on_device;
};

struct BenchCase {
    std::string name;  // "linear_forward/2048/256/768/bias"
    std::string backend = kCpu;
    double flops = 0, bytes = 0;  // of one run, before it is prepared
    std::function<PreparedBench(int threads)> prepare;
    bool on_device = false;   // timed by its clock: prepared for on_device
    std::string beside = {};  // the case that this one's rate is divided by; empty: none
};

// "gather_rows/16/128" of an op case's "gather_rows 16 128".
inline std::string bench_name(std::string op_name) {
    std::replace(op_name.begin(), op_name.end(), ' ', '/');
    return op_name;
}

}  // namespace deft::kernels
