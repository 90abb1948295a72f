// The CUDA kernels under ThreadSanitizer, to which every thread of a block is a thread, or AddressSanitizer.
//
//   test_cuda_races SEED f32|bf16 BARRIER CASE...   small op cases; values too are checked
//   test_cuda_races tiny NAME BARRIER               a kernel of the emulator's own tests
//
// test_cuda_bounds is called likewise. BARRIER: file:line of one that is skipped, or "all" are heeded. The exit code is
// 0 when nothing is wrong, 1 when a value is or the emulator refuses, 66 where the sanitizer reports.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "kernels/cuda/emulator/emulator.h"
#include "tests/cuda/small_cases.h"
#include "tests/cuda_races/tiny_races.h"

// A short history is enough to name the other access, and keeps hundreds of threads small.
extern "C" const char* __tsan_default_options() {
    return "exitcode=66:halt_on_error=1:history_size=1:atexit_sleep_ms=0";
}
extern "C" const char* __asan_default_options() {
    return "exitcode=66:detect_leaks=0";
}

namespace {

using namespace deft::kernels;

void heed_barriers(const std::string& which) {
    if (which == "all") return;
    const std::size_t colon = which.rfind(':');
    cuda::emulator::skip_barrier({which.substr(0, colon), std::atoi(which.c_str() + colon + 1)});
}

int run_cases(std::uint64_t seed, cases::Activations type, const std::vector<std::string>& names) {
    const cuda::Context context;
    const std::vector<cases::OpCase> ops = cases::small_cases(seed);
    for (const std::string& name : names) {
        const auto op = std::find_if(ops.begin(), ops.end(), [&](const auto& one) { return one.name == name; });
        if (op == ops.end()) {
            std::printf("no small case is called %s\n", name.c_str());
            return 2;
        }
        cuda::emulator::set_schedule({.shuffled = true, .seed = seed});
        const std::string wrong = cases::disagreement(context.exec(), *op, type);
        if (wrong.empty()) continue;
        std::printf("%s\n", wrong.c_str());
        return 1;
    }
    return 0;
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 3) return 2;
    heed_barriers(arguments[2]);
    if (arguments[0] == "tiny") return cuda::tiny::run_tiny(arguments[1]) ? 0 : 2;
    return run_cases(std::strtoull(arguments[0].c_str(), nullptr, 10),
                     arguments[1] == "bf16" ? cases::Activations::bf16 : cases::Activations::f32,
                     {arguments.begin() + 3, arguments.end()});
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
}
